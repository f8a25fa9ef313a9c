// A program for the tools library, one way to use the GPU for each word: plain, streams, graph, exit (without cleanup), fork, printf, modules (two
// code objects with a kernel of the same name, from files), dynamic (LDS), unused (a kernel that is never launched), kill.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "check.h"

__device__ int counter;
static __device__ int hidden = 5;
__constant__ float scale[4] = {1, 2, 3, 4};
__device__ int* pointer = &counter;
__managed__ int managed = 7;
__device__ int sums[256];

__global__ void step(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = scale[i & 3] * i + managed + out[i];
  atomicAdd(&counter, 1);
  atomicAdd(&hidden, 2);
  sums[i & 255] += i;
}
__global__ void peek(int* out) {
  out[0] = counter;
  out[1] = hidden;
  out[2] = *pointer;
  out[3] = sums[17];
}
__global__ void never(float* out) { out[0] = 1; }
__global__ void talk(int* out) {
  printf("lane %d\n", static_cast<int>(threadIdx.x));
  out[threadIdx.x] = 2;
}
__global__ void turn(int* out) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = threadIdx.x * 3;
  __syncthreads();
  out[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

static void Report(float* data) {
  int* seen;
  OK(hipMalloc(&seen, 16));
  peek<<<1, 1>>>(seen);
  const std::vector<int> values = Download(seen, 4);
  const std::vector<float> first = Download(data, 250);
  std::printf("%d %d %d %d %g %g %g\n", values[0], values[1], values[2], values[3], first[1], first[7], first[249]);
  std::fflush(stdout);
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "plain";
  if (mode == "fork") {
    // Both processes use the GPU: the child starts anew.
    const pid_t child = fork();
    if (child == 0) {
      execl(argv[0], argv[0], "plain", nullptr);
      _exit(127);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  float* data;
  OK(hipMalloc(&data, 4096));
  OK(hipMemset(data, 0, 4096));
  const float changed[4] = {2, 4, 6, 8};
  OK(hipMemcpyToSymbol(HIP_SYMBOL(scale), changed, sizeof changed));
  if (mode == "streams") {
    hipStream_t a, b;
    hipEvent_t done;
    OK(hipStreamCreate(&a));
    OK(hipStreamCreate(&b));
    OK(hipEventCreate(&done));
    for (int n = 0; n < 3; n++) {
      step<<<4, 64, 0, a>>>(data, 250);
      OK(hipEventRecord(done, a));
      OK(hipStreamWaitEvent(b, done, 0));
      step<<<4, 64, 0, b>>>(data, 250);
      OK(hipEventRecord(done, b));
      OK(hipStreamWaitEvent(a, done, 0));
    }
    OK(hipDeviceSynchronize());
  } else if (mode == "graph") {
    hipStream_t s;
    hipGraph_t graph;
    hipGraphExec_t ready;
    OK(hipStreamCreate(&s));
    OK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
    step<<<4, 64, 0, s>>>(data, 250);
    step<<<2, 128, 0, s>>>(data, 250);
    OK(hipStreamEndCapture(s, &graph));
    OK(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
    for (int n = 0; n < 2; n++) OK(hipGraphLaunch(ready, s));
    OK(hipStreamSynchronize(s));
  } else if (mode == "printf") {
    int* out;
    OK(hipMalloc(&out, 256));
    talk<<<1, 4>>>(out);
    OK(hipDeviceSynchronize());
  } else if (mode == "dynamic") {
    int* out;
    OK(hipMalloc(&out, 4096));
    turn<<<1, 128, 128 * sizeof(int)>>>(out);
    std::printf("%d\n", Download(out, 128)[5]);
  } else if (mode == "modules") {
    for (int n = 2; n + 1 < argc; n += 2) {
      hipModule_t module;
      hipFunction_t function;
      OK(hipModuleLoad(&module, argv[n]));
      OK(hipModuleGetFunction(&function, module, argv[n + 1]));
      void* arguments[] = {&data};
      OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
    }
  } else {
    for (int n = 0; n < 3; n++) step<<<4, 64>>>(data, 250);
  }
  if (mode == "wait") {
    // The second queue waits for a value that the program writes after it has launched more.
    hipStream_t a;
    uint32_t* flag;
    OK(hipStreamCreate(&a));
    OK(hipHostMalloc(reinterpret_cast<void**>(&flag), 4));
    *flag = 0;
    OK(hipStreamWaitValue32(a, flag, 1, hipStreamWaitValueEq));
    step<<<4, 64, 0, a>>>(data, 250);
    step<<<4, 64>>>(data, 250);
    *flag = 1;
    OK(hipDeviceSynchronize());
  }
  Report(data);
  if (mode == "forked") {
    // A child that ends without ever touching the GPU: its parent's runtime goes on.
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    step<<<4, 64>>>(data, 250);
    Report(data);
  }
  if (mode == "exit") _exit(0);
  if (mode == "kill") {
    step<<<4, 64>>>(data, 250);
    kill(getpid(), SIGKILL);
  }
  return 0;
}
