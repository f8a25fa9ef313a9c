// rocRAND of Debian, its own kernels: distributions by their moments, and the same seed gives the same numbers.
#include <hip/hip_runtime.h>
#include <rocrand/rocrand.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

int failed = 0;

void Expect(const char* engine, const char* what, bool is_right, double value) {
  std::printf("%s: %s: %s (%g)\n", engine, what, is_right ? "ok" : "WRONG", value);
  failed += is_right ? 0 : 1;
}

struct Moments {
  double mean = 0, deviation = 0;
};
Moments Measure(const std::vector<float>& values) {
  Moments m;
  for (const float value : values) m.mean += value;
  m.mean /= static_cast<double>(values.size());
  for (const float value : values) m.deviation += (value - m.mean) * (value - m.mean);
  m.deviation = std::sqrt(m.deviation / static_cast<double>(values.size()));
  return m;
}

#define CHECK(call)                                                      \
  do {                                                                   \
    const int status = static_cast<int>(call);                           \
    if (status != 0) {                                                   \
      std::printf("%s:%d: %s: %d\n", __FILE__, __LINE__, #call, status); \
      std::exit(1);                                                      \
    }                                                                    \
  } while (0)

}  // namespace

int main() {
  constexpr size_t kCount = 1 << 16;
  float* device = nullptr;
  unsigned* words = nullptr;
  CHECK(hipMalloc(reinterpret_cast<void**>(&device), kCount * sizeof(float)));
  CHECK(hipMalloc(reinterpret_cast<void**>(&words), kCount * sizeof(unsigned)));
  const auto read = [&] {
    std::vector<float> values(kCount);
    CHECK(hipMemcpy(values.data(), device, kCount * sizeof(float), hipMemcpyDeviceToHost));
    return values;
  };
  struct Engine {
    const char* name;
    rocrand_rng_type type;
    bool has_seed;
  };
  const Engine engines[] = {{"xorwow", ROCRAND_RNG_PSEUDO_XORWOW, true},
                            {"mrg32k3a", ROCRAND_RNG_PSEUDO_MRG32K3A, true},
                            {"philox4x32_10", ROCRAND_RNG_PSEUDO_PHILOX4_32_10, true},
                            {"mtgp32", ROCRAND_RNG_PSEUDO_MTGP32, true},
                            {"sobol32", ROCRAND_RNG_QUASI_SOBOL32, false}};
  for (const Engine& engine : engines) {
    std::vector<float> first;
    for (int round = 0; round < 2; round++) {
      rocrand_generator generator;
      CHECK(rocrand_create_generator(&generator, engine.type));
      if (engine.has_seed) CHECK(rocrand_set_seed(generator, 1234));
      CHECK(rocrand_generate_uniform(generator, device, kCount));
      const std::vector<float> uniform = read();
      if (round == 0) {
        first = uniform;
        const Moments u = Measure(uniform);
        Expect(engine.name, "uniform mean", std::abs(u.mean - 0.5) < 0.01, u.mean);
        Expect(engine.name, "uniform deviation", std::abs(u.deviation - std::sqrt(1.0 / 12)) < 0.01, u.deviation);
        CHECK(rocrand_generate_normal(generator, device, kCount, 2.0f, 3.0f));
        const Moments n = Measure(read());
        Expect(engine.name, "normal mean", std::abs(n.mean - 2) < 0.05, n.mean);
        Expect(engine.name, "normal deviation", std::abs(n.deviation - 3) < 0.05, n.deviation);
        CHECK(rocrand_generate_poisson(generator, words, kCount, 10.0));
        std::vector<unsigned> counts(kCount);
        CHECK(hipMemcpy(counts.data(), words, kCount * sizeof(unsigned), hipMemcpyDeviceToHost));
        double sum = 0;
        for (const unsigned count : counts) sum += count;
        Expect(engine.name, "poisson mean", std::abs(sum / kCount - 10) < 0.1, sum / kCount);
      } else {
        Expect(engine.name, "same again", uniform == first, uniform[kCount - 1]);
      }
      CHECK(rocrand_destroy_generator(generator));
    }
  }
  std::printf("%s\n", failed == 0 ? "rocrand: all right" : "rocrand: failed");
  return failed == 0 ? 0 : 1;
}
