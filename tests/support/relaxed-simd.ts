// Files of one worker share what is found out of the host (src/device/sim/wasm/features.ts): relaxed SIMD is on before the first of them asks, as the
// command line has it. Without it f64 matrix products are interpreted, and a test of seconds takes more than five minutes.
import { enableRelaxedSimd } from '../../src/device/node/v8-flags.ts';

enableRelaxedSimd();
