// What C++ can say about values: references, bases, members without a name, bit fields, enumerations, half and bfloat16 numbers, texts,
// arrays of arrays, a functor and a dynamic LDS array (tests/exec-debug.test.ts).
#include <hip/hip_runtime.h>
#include <cstdio>
enum Color { red = -1, green = 5 };
struct Node { int value; Node *next; };
struct Base { short kind; };
struct Item : Base {
  union { int whole; float part; };
  unsigned low : 3, high : 5;
  Color color;
  char label[8];
};
struct Scale {
  float factor;
  __device__ __noinline__ float operator()(const float &x) const { return x * factor; }
};
__global__ void kernel(Node *nodes, float *out, unsigned n, const char *title) {
  extern __shared__ int tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
  Item item;
  item.kind = 7; item.whole = 0x3f800000; item.low = 5; item.high = 17; item.color = red;
  for (int j = 0; j < 8; j++) item.label[j] = title[j];
  _Float16 half = 1.5f;
  __bf16 brain = 2.5f;
  Node *p = nodes + i;
  unsigned char small = 200;
  Item *q = &item;
  tile[threadIdx.x] = 10 * i;
  __syncthreads();
  Scale scale{0.5f};
  float y = scale(float(half) + float(brain));
  if (p->next) y += p->next->value + tile[threadIdx.x ^ 1];
  out[i] = y + small + q->kind + grid[1][2];
}
int main() {
  const int n = 128;
  Node *nodes; float *out; char *title;
  if (hipMallocManaged(&nodes, n * sizeof(Node)) != hipSuccess || hipMallocManaged(&out, n * 4) != hipSuccess) return 3;
  if (hipMallocManaged(&title, 8) != hipSuccess) return 3;
  for (int i = 0; i < n; i++) nodes[i] = {i * i, i + 1 < n ? nodes + i + 1 : nullptr};
  for (int i = 0; i < 8; i++) title[i] = "wave"[i < 4 ? i : 4];
  kernel<<<2, 64, 64 * sizeof(int)>>>(nodes, out, n, title);
  if (hipDeviceSynchronize() != hipSuccess) return 3;
  printf("out[3] = %g\n", out[3]);
  return 0;
}
