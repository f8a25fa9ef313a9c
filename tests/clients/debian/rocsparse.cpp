// rocSPARSE of Debian, its own kernels: sparse matrix and vector, sparse and dense matrix, a triangular system, against the host.
#include <hip/hip_runtime.h>
#include <rocsparse/rocsparse.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#define CHECK(call)                                                      \
  do {                                                                   \
    const int status = static_cast<int>(call);                           \
    if (status != 0) {                                                   \
      std::printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #call, status); \
      std::exit(1);                                                      \
    }                                                                    \
  } while (0)

namespace {

template <typename T>
T* Upload(const std::vector<T>& values) {
  T* at = nullptr;
  CHECK(hipMalloc(reinterpret_cast<void**>(&at), values.size() * sizeof(T)));
  CHECK(hipMemcpy(at, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
  return at;
}
std::vector<double> Download(const double* at, size_t count) {
  std::vector<double> values(count);
  CHECK(hipMemcpy(values.data(), at, count * sizeof(double), hipMemcpyDeviceToHost));
  return values;
}

int failed = 0;
void Expect(const char* what, const std::vector<double>& got, const std::vector<double>& wanted) {
  double worst = 0;
  for (size_t n = 0; n < wanted.size(); n++) worst = std::fmax(worst, std::abs(got[n] - wanted[n]));
  const bool is_right = worst < 1e-10;
  std::printf("%s: %s (%g)\n", what, is_right ? "ok" : "WRONG", worst);
  failed += is_right ? 0 : 1;
}

}  // namespace

int main() {
  constexpr int kRows = 1000;
  constexpr int kColumns = 8;  // of the dense matrix
  std::mt19937 random(5);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<int> starts{0}, columns;
  std::vector<double> values;
  for (int row = 0; row < kRows; row++) {
    for (int column = 0; column <= row; column++) {
      if (column != row && random() % 97 != 0) continue;
      columns.push_back(column);
      values.push_back(column == row ? 4 + number(random) : number(random));
    }
    starts.push_back(static_cast<int>(columns.size()));
  }
  const int count = static_cast<int>(values.size());
  std::vector<double> x(kRows), y(kRows), dense(kRows * kColumns);
  for (auto* list : {&x, &y, &dense}) {
    for (double& value : *list) value = number(random);
  }
  const double alpha = 1.5, beta = -0.5;

  rocsparse_handle handle;
  CHECK(rocsparse_create_handle(&handle));
  rocsparse_mat_descr matrix;
  CHECK(rocsparse_create_mat_descr(&matrix));
  rocsparse_mat_info info;
  CHECK(rocsparse_create_mat_info(&info));
  int* const d_starts = Upload(starts);
  int* const d_columns = Upload(columns);
  double* const d_values = Upload(values);
  double* const d_x = Upload(x);
  double* const d_y = Upload(y);

  std::vector<double> wanted = y;
  for (int row = 0; row < kRows; row++) {
    double sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
    wanted[row] = alpha * sum + beta * y[row];
  }
  CHECK(rocsparse_dcsrmv(handle, rocsparse_operation_none, kRows, kRows, count, &alpha, matrix, d_values, d_starts,
                         d_columns, nullptr, d_x, &beta, d_y));
  Expect("csrmv", Download(d_y, kRows), wanted);
  CHECK(hipMemcpy(d_y, y.data(), kRows * sizeof(double), hipMemcpyHostToDevice));
  CHECK(rocsparse_dcsrmv_analysis(handle, rocsparse_operation_none, kRows, kRows, count, matrix, d_values, d_starts,
                                  d_columns, info));
  CHECK(rocsparse_dcsrmv(handle, rocsparse_operation_none, kRows, kRows, count, &alpha, matrix, d_values, d_starts,
                         d_columns, info, d_x, &beta, d_y));
  Expect("csrmv, analysed", Download(d_y, kRows), wanted);

  double* const d_dense = Upload(dense);
  double* const d_result = Upload(std::vector<double>(kRows * kColumns));
  const double zero = 0;
  std::vector<double> product(kRows * kColumns);
  for (int column = 0; column < kColumns; column++) {
    for (int row = 0; row < kRows; row++) {
      double sum = 0;
      for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * dense[columns[k] + column * kRows];
      product[row + column * kRows] = alpha * sum;
    }
  }
  CHECK(rocsparse_dcsrmm(handle, rocsparse_operation_none, rocsparse_operation_none, kRows, kColumns, kRows, count,
                         &alpha, matrix, d_values, d_starts, d_columns, d_dense, kRows, &zero, d_result, kRows));
  Expect("csrmm", Download(d_result, kRows * kColumns), product);

  // L y = alpha x: waves wait for rows that others solve.
  CHECK(rocsparse_set_mat_fill_mode(matrix, rocsparse_fill_mode_lower));
  size_t bytes = 0;
  CHECK(rocsparse_dcsrsv_buffer_size(handle, rocsparse_operation_none, kRows, count, matrix, d_values, d_starts,
                                     d_columns, info, &bytes));
  void* buffer = nullptr;
  CHECK(hipMalloc(&buffer, bytes));
  CHECK(rocsparse_dcsrsv_analysis(handle, rocsparse_operation_none, kRows, count, matrix, d_values, d_starts, d_columns,
                                  info, rocsparse_analysis_policy_force, rocsparse_solve_policy_auto, buffer));
  CHECK(rocsparse_dcsrsv_solve(handle, rocsparse_operation_none, kRows, count, &alpha, matrix, d_values, d_starts,
                               d_columns, info, d_x, d_y, rocsparse_solve_policy_auto, buffer));
  std::vector<double> solved(kRows);
  for (int row = 0; row < kRows; row++) {
    double sum = alpha * x[row];
    for (int k = starts[row]; k < starts[row + 1] - 1; k++) sum -= values[k] * solved[columns[k]];
    solved[row] = sum / values[starts[row + 1] - 1];
  }
  Expect("csrsv", Download(d_y, kRows), solved);

  CHECK(rocsparse_destroy_mat_info(info));
  CHECK(rocsparse_destroy_mat_descr(matrix));
  CHECK(rocsparse_destroy_handle(handle));
  std::printf("%s\n", failed == 0 ? "rocsparse: all right" : "rocsparse: failed");
  return failed == 0 ? 0 : 1;
}
