// Dispatches whose memory is hard to find: a structure by value, pointers in variables and in memory, a variable of another translation unit,
// no arguments at all, a function pointer, memory that one mapping shows beyond 4 GiB of a base pointer, two processes (`fork`), printf (`talk`).
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "check.h"

struct Task {
  const float* in;
  float* out;
  int count;
  double factor;
  struct {
    const int* order;
    short first;
  } inner;
};

__device__ int table[64];
__device__ int* pointer = &table[3];
__device__ int* late;
__device__ int answers[64];

extern "C" __global__ void by_value(Task task) {
  const int i = threadIdx.x + task.inner.first;
  if (i < task.count) task.out[i] = static_cast<float>(task.in[task.inner.order[i]] * task.factor);
}
extern "C" __global__ void through_variables(int* out) {
  out[threadIdx.x] = pointer[threadIdx.x & 7] + late[threadIdx.x];
  late[threadIdx.x] = 5;
}
extern "C" __global__ void no_arguments() { answers[threadIdx.x] = table[63 - threadIdx.x] + 1; }

__device__ int Twice(int x) { return 2 * x; }
__device__ int Square(int x) { return x * x; }
typedef int (*Function)(int);
__device__ Function functions[2] = {Twice, Square};
extern "C" __global__ void by_function(int* out, int which) { out[threadIdx.x] = functions[which](threadIdx.x); }

// A list whose nodes lie in buffers of their own, one pointer stored twice.
struct Node {
  Node* next;
  Node** slot;
  int values[6];
};
extern "C" __global__ void list(Node* head) {
  int sum = 0;
  for (Node* n = head; n != nullptr; n = *n->slot) sum += n->values[threadIdx.x % 6], n->values[5] = 9;
  if (threadIdx.x == 0) head->values[0] = sum;
}

extern "C" __global__ void far(const int* base, long distance, int* out) {
  out[threadIdx.x] = base[distance / 4 + threadIdx.x];
}
extern "C" __global__ void talk(int* out) {
  printf("lane %d\n", static_cast<int>(threadIdx.x));
  out[threadIdx.x] = 2;
}

int* VariableOfOther();
void RunOther(int* out);

int main(int argc, char** argv) {
  const bool forks = argc > 1 && std::strcmp(argv[1], "fork") == 0;
  const bool talks = argc > 1 && std::strcmp(argv[1], "talk") == 0;
  const pid_t child = forks ? fork() : 1;

  std::vector<float> numbers(64);
  std::vector<int> order(64);
  for (int i = 0; i < 64; i++) numbers[i] = i * 0.25f, order[i] = 63 - i;
  float* const in = Upload(numbers);
  int* const out = Upload(std::vector<int>(64));
  const Task task{in, reinterpret_cast<float*>(out), 60, 1.5, {Upload(order), 2}};
  by_value<<<1, 64>>>(task);

  int* const target = Upload(order);
  OK(hipMemcpyToSymbol(HIP_SYMBOL(late), &target, sizeof target));
  OK(hipMemcpyToSymbol(HIP_SYMBOL(table), order.data(), 256));
  through_variables<<<1, 64>>>(out);
  no_arguments<<<1, 64>>>();
  by_function<<<1, 64>>>(out, 1);

  Node* nodes[8];
  for (auto& node : nodes) OK(hipMalloc(&node, sizeof(Node)));
  Node** slots;
  OK(hipMalloc(&slots, sizeof nodes));
  for (int i = 0; i < 8; i++) {
    Node node{nodes[(i + 1) % 8], slots + i, {i, i, i, i, i, i}};
    OK(hipMemcpy(nodes[i], &node, sizeof node, hipMemcpyHostToDevice));
    Node* next = i < 7 ? nodes[i + 1] : nullptr;
    OK(hipMemcpy(slots + i, &next, sizeof next, hipMemcpyHostToDevice));
  }
  list<<<1, 64>>>(nodes[0]);

  int* managed;
  int* host;
  OK(hipMallocManaged(&managed, 1 << 20));
  OK(hipHostMalloc(reinterpret_cast<void**>(&host), 1 << 20));
  for (int i = 0; i < 64; i++) managed[i] = i * 3, host[i] = i * 7;
  far<<<1, 64>>>(in == nullptr ? nullptr : reinterpret_cast<int*>(in),
                 reinterpret_cast<char*>(managed) - reinterpret_cast<char*>(in), out);
  far<<<1, 64>>>(host, 0, managed + 64);
  far<<<1, 64>>>(VariableOfOther(), 0, out);
  RunOther(out);
  if (talks) talk<<<1, 4>>>(out);
  OK(hipDeviceSynchronize());
  const std::vector<int> last = Download(out, 64);
  std::printf("%d %d\n", last[1], managed[65]);
  std::fflush(stdout);
  if (child == 0) _exit(0);
  if (forks) {
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  return 0;
}
