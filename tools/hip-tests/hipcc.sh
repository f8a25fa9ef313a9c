#!/usr/bin/env bash
# hipcc for hip-tests: clang 22 with the suite's HIP headers. Environment: HIP_TESTS_CLANG, HIP_TESTS_HEADERS, HIP_TESTS_DEVICE_LIBS, HIP_TESTS_NATIVE,
# HIP_TESTS_ARCH. `--genco` makes a code object bundle; C++ sources are HIP whatever their suffix.
set -euo pipefail
flags=(--rocm-path="$HIP_TESTS_HEADERS" -isystem "$HIP_TESTS_HEADERS/include" -D__HIP_PLATFORM_AMD__ -D__AMDGCN_WAVEFRONT_SIZE=64
  --rocm-device-lib-path="$HIP_TESTS_DEVICE_LIBS" -w)
link=(-L"$HIP_TESTS_NATIVE" -l:libamdhip64.so.6)
arch=0 kind=(-x hip)
arguments=()
skip=0 output=0
for argument in "$@"; do
  if [ $skip = 1 ]; then skip=0; continue; fi
  if [ $output = 1 ]; then output=0; arguments+=("$argument"); continue; fi
  case "$argument" in
    --genco) arguments+=(--offload-device-only); link=() ;;
    --offload-arch=*) arch=1; arguments+=("$argument") ;;
    -c | -E | -S) link=(); arguments+=("$argument") ;;
    -x) skip=1 ;;
    -o) output=1; arguments+=("$argument") ;;
    --rocm-path=*) ;;
    *.o | *.a) arguments+=("-xnone" "$argument") ;;
    *.c) arguments+=(-xc "$argument") ;;
    *.cc | *.cpp | *.hip) arguments+=("${kind[@]}" "$argument") ;;
    *) arguments+=("$argument") ;;
  esac
done
[ $arch = 1 ] || flags+=("--offload-arch=$HIP_TESTS_ARCH")
if [ ${#link[@]} -gt 0 ]; then link=(-xnone --hip-link "${link[@]}" -lpthread -ldl -lrt -lstdc++fs); fi
exec "$HIP_TESTS_CLANG" "${flags[@]}" "${arguments[@]}" "${link[@]}"
