// What JavaScript gives to a function of the addon, and what it gets back. Source: Node-API.
#pragma once
#include <node_api.h>

#include <cstdint>
#include <string>
#include <utility>

namespace wavesmith {

inline napi_value Throw(napi_env env, const char* code, const std::string& text) {
  napi_throw_error(env, code, text.c_str());
  return nullptr;
}

// The arguments of a call: numbers (addresses and sizes below 2^53), bytes.
class Arguments {
 public:
  Arguments(napi_env env, napi_callback_info info) : env_(env) {
    napi_get_cb_info(env, info, &count_, values_, nullptr, nullptr);
  }
  uint64_t Number(size_t n) const {
    double value = 0;
    if (n < count_) napi_get_value_double(env_, values_[n], &value);
    return value > 0 ? static_cast<uint64_t>(value) : 0;
  }
  std::string Text(size_t n) const {
    char text[4096];
    size_t length = 0;
    if (n < count_) napi_get_value_string_utf8(env_, values_[n], text, sizeof text, &length);
    return {text, length};
  }
  // Where the elements of a typed array are, and how many there are. Valid during the call.
  std::pair<uint8_t*, size_t> Bytes(size_t n) const {
    napi_typedarray_type type;
    size_t size = 0;
    void* data = nullptr;
    if (n < count_) napi_get_typedarray_info(env_, values_[n], &type, &size, &data, nullptr, nullptr);
    return {static_cast<uint8_t*>(data), data == nullptr ? 0 : size};
  }

 private:
  napi_env env_;
  size_t count_ = 8;
  napi_value values_[8] = {};
};

inline napi_value Number(napi_env env, uint64_t value) {
  napi_value result;
  napi_create_double(env, static_cast<double>(value), &result);
  return result;
}
inline void Set(napi_env env, napi_value object, const char* name, uint64_t value) {
  napi_set_named_property(env, object, name, Number(env, value));
}
inline void Set(napi_env env, napi_value object, const char* name, const std::string& value) {
  napi_value text;
  napi_create_string_utf8(env, value.data(), value.size(), &text);
  napi_set_named_property(env, object, name, text);
}

}  // namespace wavesmith
