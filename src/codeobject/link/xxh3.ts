// XXH3 (64 bits, default secret, no seed): the hash by which lld orders merged strings.
// Source: the xxHash specification (XXH3), as in LLVM's lib/Support/xxhash.cpp.

const MASK = (1n << 64n) - 1n;
const PRIME32_1 = 0x9e3779b1n;
const PRIME32_2 = 0x85ebca77n;
const PRIME32_3 = 0xc2b2ae3dn;
const PRIME64_1 = 0x9e3779b185ebca87n;
const PRIME64_2 = 0xc2b2ae3d27d4eb4fn;
const PRIME64_3 = 0x165667b19e3779f9n;
const PRIME64_4 = 0x85ebca77c2b2ae63n;
const PRIME64_5 = 0x27d4eb2f165667c5n;
const PRIME_MX1 = 0x165667919e3779f9n;
const PRIME_MX2 = 0x9fb21c651e98df25n;

const SECRET_HEX =
  'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221' +
  'b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8' +
  'a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb' +
  '170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e';
const SECRET = new Uint8Array(SECRET_HEX.length / 2);
for (let i = 0; i < SECRET.length; i++) SECRET[i] = Number.parseInt(SECRET_HEX.slice(2 * i, 2 * i + 2), 16);
const SECRET_VIEW = new DataView(SECRET.buffer);
const secret64 = (at: number) => SECRET_VIEW.getBigUint64(at, true);
const secret32 = (at: number) => BigInt(SECRET_VIEW.getUint32(at, true));

function rotateLeft(x: bigint, n: bigint): bigint {
  return ((x << n) | (x >> (64n - n))) & MASK;
}

function foldMultiply(a: bigint, b: bigint): bigint {
  const product = a * b;
  return (product & MASK) ^ (product >> 64n);
}

function byteSwap(x: bigint, bytes: number): bigint {
  let out = 0n;
  for (let i = 0; i < bytes; i++) out = (out << 8n) | ((x >> BigInt(8 * i)) & 0xffn);
  return out;
}

function avalanche64(hash: bigint): bigint {
  let h = hash;
  h = ((h ^ (h >> 33n)) * PRIME64_2) & MASK;
  h = ((h ^ (h >> 29n)) * PRIME64_3) & MASK;
  return h ^ (h >> 32n);
}

function avalanche3(hash: bigint): bigint {
  let h = hash ^ (hash >> 37n);
  h = (h * PRIME_MX1) & MASK;
  return h ^ (h >> 32n);
}

/** XXH3_64bits of the bytes. */
export function xxh3(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = bytes.length;
  const u32 = (at: number) => BigInt(view.getUint32(at, true));
  const u64 = (at: number) => view.getBigUint64(at, true);
  const mix16 = (at: number, secret: number) =>
    foldMultiply(u64(at) ^ secret64(secret), u64(at + 8) ^ secret64(secret + 8));
  if (size === 0) return avalanche64(secret64(56) ^ secret64(64));
  if (size <= 3) {
    const combined =
      (BigInt(bytes[0]) << 16n) | (BigInt(bytes[size >> 1]) << 24n) | BigInt(bytes[size - 1]) | (BigInt(size) << 8n);
    return avalanche64(combined ^ (secret32(0) ^ secret32(4)));
  }
  if (size <= 8) {
    const keyed = (u32(size - 4) | (u32(0) << 32n)) ^ (secret64(8) ^ secret64(16));
    let h = keyed ^ rotateLeft(keyed, 49n) ^ rotateLeft(keyed, 24n);
    h = (h * PRIME_MX2) & MASK;
    h ^= (h >> 35n) + BigInt(size);
    h = (h * PRIME_MX2) & MASK;
    return h ^ (h >> 28n);
  }
  if (size <= 16) {
    const low = u64(0) ^ (secret64(24) ^ secret64(32));
    const high = u64(size - 8) ^ (secret64(40) ^ secret64(48));
    return avalanche3((BigInt(size) + byteSwap(low, 8) + high + foldMultiply(low, high)) & MASK);
  }
  if (size <= 128) {
    let acc = (BigInt(size) * PRIME64_1) & MASK;
    for (let i = Math.floor((size - 1) / 32); i >= 0; i--) {
      acc += mix16(16 * i, 32 * i) + mix16(size - 16 * (i + 1), 32 * i + 16);
    }
    return avalanche3(acc & MASK);
  }
  if (size <= 240) {
    let acc = (BigInt(size) * PRIME64_1) & MASK;
    for (let i = 0; i < 8; i++) acc += mix16(16 * i, 16 * i);
    acc = avalanche3(acc & MASK);
    for (let i = 8; i < Math.floor(size / 16); i++) acc += mix16(16 * i, 16 * (i - 8) + 3);
    return avalanche3((acc + mix16(size - 16, 136 - 17)) & MASK);
  }
  return hashLong(size, u64);
}

const STRIPE = 64;

function hashLong(size: number, u64: (at: number) => bigint): bigint {
  const acc = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1];
  const accumulate = (at: number, secret: number) => {
    for (let i = 0; i < 8; i++) {
      const value = u64(at + 8 * i);
      const key = value ^ secret64(secret + 8 * i);
      acc[i ^ 1] = (acc[i ^ 1] + value) & MASK;
      acc[i] = (acc[i] + (key & 0xffffffffn) * (key >> 32n)) & MASK;
    }
  };
  const stripesPerBlock = (SECRET.length - STRIPE) / 8;
  const blockSize = STRIPE * stripesPerBlock;
  const blocks = Math.floor((size - 1) / blockSize);
  for (let block = 0; block < blocks; block++) {
    for (let i = 0; i < stripesPerBlock; i++) accumulate(block * blockSize + i * STRIPE, 8 * i);
    for (let i = 0; i < 8; i++) {
      const mixed = acc[i] ^ (acc[i] >> 47n) ^ secret64(SECRET.length - STRIPE + 8 * i);
      acc[i] = (mixed * PRIME32_1) & MASK;
    }
  }
  const stripes = Math.floor((size - 1 - blockSize * blocks) / STRIPE);
  for (let i = 0; i < stripes; i++) accumulate(blocks * blockSize + i * STRIPE, 8 * i);
  accumulate(size - STRIPE, SECRET.length - STRIPE - 7);
  let result = (BigInt(size) * PRIME64_1) & MASK;
  for (let i = 0; i < 4; i++) {
    result += foldMultiply(acc[2 * i] ^ secret64(11 + 16 * i), acc[2 * i + 1] ^ secret64(11 + 16 * i + 8));
  }
  return avalanche3(result & MASK);
}
