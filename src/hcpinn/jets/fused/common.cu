// What the kernels have in common: their arrays, and products by the matrix unit.
//
// float32 products are exact to rounding: every factor is split into two parts of TF32, and three of
// the four products are added up. float64 products are what the matrix unit computes by itself.
//
// Set beforehand: DOUBLE (whether numbers are float64), S streams, W neurons, F features, D hidden layers,
// C outputs, MIXED (whether every layer mixes two encodings of the features, which are then kept behind the
// hidden layers, and whose weights come behind the first), POINTS, TILE (of a block of threads), PADDED (a
// multiple of it), WARPS, OWN_FEATURES (whether each run has its own), and, in numbers of the type `real`, the
// functions begin(z), outer(own, jet), pull(own, wanted, inner), mix and unmix, one neuron of one point at a time.

#define THREADS (32 * WARPS)
#define FIRSTS (MIXED ? 3 : 1)         // layers that read the features
#define LAYERS (D - 1 + FIRSTS)        // layers with an activation

// The gradient of one tile: first weights, hidden weights, biases, last weights.
#define AT_HIDDEN (FIRSTS * F * W)
#define AT_BIAS (AT_HIDDEN + (D - 1) * W * W)
#define AT_LAST (AT_BIAS + LAYERS * W)
#define TOTAL (AT_LAST + C * W)

// A number as a factor for the matrix unit, and a cell of shared memory, which holds two of them: what a
// product needs lies side by side, so that it can be loaded into neighbouring registers.
#if DOUBLE
typedef double Factor;
typedef double2 Cell;

__device__ __forceinline__ Factor factor(real x) { return x; }
__device__ __forceinline__ Cell pair(Factor a, Factor b) { return make_double2(a, b); }
__device__ __forceinline__ void unpack(const Cell& from, Factor (&to)[2]) { to[0] = from.x, to[1] = from.y; }
__device__ __forceinline__ void pack(const Factor (&from)[4], Cell& first, Cell& second) {
  first = make_double2(from[0], from[1]), second = make_double2(from[2], from[3]);
}
__device__ __forceinline__ void unpack(const Cell& first, const Cell& second, Factor (&to)[4]) {
  to[0] = first.x, to[1] = first.y, to[2] = second.x, to[3] = second.y;
}
__device__ __forceinline__ void store(real* to, real x, real y) {
  *reinterpret_cast<double2*>(to) = make_double2(x, y);
}
__device__ __forceinline__ void fetch(const real* from, real (&to)[4]) {
  const double2* at = reinterpret_cast<const double2*>(from);
  const double2 a = __ldg(at), b = __ldg(at + 1);
  to[0] = a.x, to[1] = a.y, to[2] = b.x, to[3] = b.y;
}

// c += a b
__device__ __forceinline__ void multiply(real (&c)[4], const Factor (&a)[4], const Factor (&b)[2]) {
#ifdef EMULATED
  emulate_mma(c, a[0], a[1], a[2], a[3], b[0], b[1]);
#else
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#endif
}
#else
struct Factor { unsigned big, small; };
typedef uint4 Cell;

// The big part has 11 bits: 8193 x, rounded, less 8192 x. Of the small one the matrix unit takes as many.
__device__ __forceinline__ Factor factor(real x) {
  const float big = __fmaf_rn(x, -8192.0f, __fmul_rn(x, 8193.0f));
  return {__float_as_uint(big), __float_as_uint(x - big)};
}
__device__ __forceinline__ Cell pair(Factor a, Factor b) { return make_uint4(a.big, b.big, a.small, b.small); }
__device__ __forceinline__ void unpack(const Cell& from, Factor (&to)[2]) {
  to[0] = {from.x, from.z}, to[1] = {from.y, from.w};
}
__device__ __forceinline__ void pack(const Factor (&from)[4], Cell& first, Cell& second) {
  first = make_uint4(from[0].big, from[1].big, from[2].big, from[3].big);
  second = make_uint4(from[0].small, from[1].small, from[2].small, from[3].small);
}
__device__ __forceinline__ void unpack(const Cell& first, const Cell& second, Factor (&to)[4]) {
  to[0] = {first.x, second.x}, to[1] = {first.y, second.y};
  to[2] = {first.z, second.z}, to[3] = {first.w, second.w};
}
__device__ __forceinline__ void store(real* to, real x, real y) {
  *reinterpret_cast<float2*>(to) = make_float2(x, y);
}
__device__ __forceinline__ void fetch(const real* from, real (&to)[4]) {
  const float4 v = __ldg(reinterpret_cast<const float4*>(from));
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void mma(float (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                    unsigned b0, unsigned b1) {
#ifdef EMULATED
  emulate_mma(c, a0, a1, a2, a3, b0, b1);
#else
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#endif
}

// c += a b
__device__ __forceinline__ void multiply(real (&c)[4], const Factor (&a)[4], const Factor (&b)[2]) {
  mma(c, a[0].small, a[1].small, a[2].small, a[3].small, b[0].big, b[1].big);
  mma(c, a[0].big, a[1].big, a[2].big, a[3].big, b[0].small, b[1].small);
  mma(c, a[0].big, a[1].big, a[2].big, a[3].big, b[0].big, b[1].big);
}
#endif

// The features of a run, where each has its own.
__device__ __forceinline__ void turn_to(int run, const real* (&features)[S]) {
  if (OWN_FEATURES) {
#pragma unroll
    for (int s = 0; s < S; ++s) features[s] += (size_t)run * POINTS * F;
  }
}

__device__ __forceinline__ real feature(const real* x, int point, int column) {
  return (point < POINTS && column < F) ? __ldg(x + (size_t)point * F + column) : real(0);
}

// Has a line of memory of 128 bytes brought near, for later.
__device__ __forceinline__ void expect(const real* line) {
#ifndef EMULATED
  asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
#endif
}

// Whether a network is not a number, and so is all that comes of it. Among networks that train together those
// that have nothing left to do are made so, and cost nothing.
__device__ __forceinline__ bool lost(const real* last) { return *last != *last; }
