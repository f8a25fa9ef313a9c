// Where compiled modules are kept between runs. The memory carries the cache, so that every thread finds it; what is kept is
// ../wasm/module-cache.ts.

/** Keeps bytes by key. The key is the whole content, not a hash; the cache adds which build of the compiler it serves. */
export interface ModuleCache {
  get(key: Uint8Array): Uint8Array | undefined;
  put(key: Uint8Array, bytes: Uint8Array): void;
}
