// malloc, free, new and delete in kernels.
#include "check.h"

struct Node {
  int value;
  Node* next;
};
__global__ void build(Node** heads, int length) {
  Node* head = nullptr;
  for (int i = 0; i < length; i++) {
    auto* const node = static_cast<Node*>(malloc(sizeof(Node)));
    if (node == nullptr) return;
    node->value = static_cast<int>(threadIdx.x) + i;
    node->next = head;
    head = node;
  }
  heads[blockIdx.x * blockDim.x + threadIdx.x] = head;
}
__global__ void walk(Node** heads, int* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (Node* node = heads[i]; node != nullptr;) {
    sum += node->value;
    Node* const next = node->next;
    free(node);
    node = next;
  }
  sums[i] = sum;
}
__global__ void large(int* ok) {
  int* const big = new int[100000];
  big[99999] = static_cast<int>(threadIdx.x);
  big[0] = 1;
  ok[threadIdx.x] = big[99999] == static_cast<int>(threadIdx.x) && big[0] == 1;
  delete[] big;
}

int main() {
  const int threads = 2 * 96, length = 20;
  Node** heads;
  int* sums;
  OK(hipMalloc(&heads, threads * sizeof(Node*)));
  OK(hipMemset(heads, 0, threads * sizeof(Node*)));
  OK(hipMalloc(&sums, threads * sizeof(int)));
  for (int round = 0; round < 2; round++) {
    build<<<2, 96>>>(heads, length);
    walk<<<2, 96>>>(heads, sums);
    const auto values = Download(sums, threads);
    for (int i = 0; i < threads; i++) CHECK(values[i] == length * (i % 96) + length * (length - 1) / 2);
  }
  large<<<1, 8>>>(sums);
  for (const int good : Download(sums, 8)) CHECK(good == 1);
  return Ok();
}
