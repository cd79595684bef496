// The jet of a wide network at a tile of points: all layers forward, and all layers back, in float32.
//
// A block of threads takes a tile of points through the network together: what goes into a layer lies in shared
// memory, rows by stream and point, beside the weights of the layer. A warp works out 16 points with all their
// streams (one stream a tile of the matrix unit, rows g and g + 8 two points) and some of the neurons, so that a
// thread has all that belongs to a neuron at a point, forward and back. The gradient of the weights is another
// product, over all rows of the tile.

#define PW (TILE / 16)         // warps along the points
#define CW (WARPS / PW)        // and along the neurons
#define NT (W / 8 / CW)        // tiles of 8 neurons of a warp
#define FT ((F + 7) / 8)       // tiles of 8 features
#define ROW (W + 4)            // numbers between rows in shared memory, so that banks differ
#define WIDE_ROW (W + 8)       // and between those of weights that are read by rows
#define ROWS (S * TILE)
// What is kept lies as threads have it: rows g and g + 8, columns 2t and 2t + 1, of each tile of 8 neurons.
#define KEPT(layer, s, warp, j) \
  ((((size_t)(layer) * S + (s)) * gridDim.x + blockIdx.x) * TILE * W + (((warp) * NT + (j)) * 32 + threadIdx.x % 32) * 4)

typedef real Part[S][NT][4];   // what a warp works out

struct Where {
  int warp, g, t, row, column;   // row: of the first point in the tile; column: of the first neuron
};
__device__ __forceinline__ Where where() {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  return {warp, g, t, (warp / CW) * 16 + g, (warp % CW) * NT * 8 + 2 * t};
}

__device__ __forceinline__ void clear(Part& z) {
#pragma unroll
  for (int s = 0; s < S; ++s)
#pragma unroll
    for (int j = 0; j < NT; ++j)
#pragma unroll
      for (int c = 0; c < 4; ++c) z[s][j][c] = 0;
}

// A copy of some numbers into shared memory that goes on beside what comes next, until arrived().
template <int COUNT>
__device__ __forceinline__ void copy(real* to, const real* from) {
#ifdef EMULATED
  for (int i = 0; i < COUNT; ++i) to[i] = from[i];
#else
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(4 * COUNT) : "memory");
#endif
}
__device__ __forceinline__ void arrived() {
#ifndef EMULATED
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

template <int COUNT>
__device__ __forceinline__ void fetch_rows(real* to, int stride, const real* from, int rows) {
  for (int i = COUNT * threadIdx.x; i < rows * W; i += COUNT * THREADS)
    copy<COUNT>(to + (i / W) * stride + i % W, from + i);
}

// Weights, with rows of zeros up to `filled`. They may be a part of a larger array, and begin anywhere.
__device__ __forceinline__ void fetch_weights(real* to, int stride, const real* from, int rows, int filled) {
  if (reinterpret_cast<size_t>(from) % 16 == 0) fetch_rows<4>(to, stride, from, rows);
  else fetch_rows<1>(to, stride, from, rows);
  for (int i = rows * W + threadIdx.x; i < filled * W; i += THREADS) to[(i / W) * stride + i % W] = 0;
}

__device__ __forceinline__ void fetch_features(real* to, const real* const (&features)[S]) {
#pragma unroll
  for (int s = 0; s < S; ++s)
    for (int i = threadIdx.x; i < TILE * 8 * FT; i += THREADS) {
      const int point = i / (8 * FT), k = i % (8 * FT);
      to[(s * TILE + point) * ROW + k] = feature(features[s], blockIdx.x * TILE + point, k);
    }
}

// Sums of products, of which each waits for none of the others of its kind: c[m][n] += a[m] b[n].
template <int M, int N>
__device__ __forceinline__ void multiply_all(real (&c)[M][N][4], const Factor (&a)[M][4], const Factor (&b)[N][2]) {
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int n = 0; n < N; ++n)
      mma(c[m][n], a[m][0].small, a[m][1].small, a[m][2].small, a[m][3].small, b[n][0].big, b[n][1].big);
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int n = 0; n < N; ++n)
      mma(c[m][n], a[m][0].big, a[m][1].big, a[m][2].big, a[m][3].big, b[n][0].small, b[n][1].small);
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int n = 0; n < N; ++n)
      mma(c[m][n], a[m][0].big, a[m][1].big, a[m][2].big, a[m][3].big, b[n][0].big, b[n][1].big);
}

// z = in times weights, of which entry (k, n) lies at k · down + n · across. Numbers for the next step are
// loaded beside the products of this one.
__device__ __forceinline__ void product(const real* in, const real* weights, int down, int across, int tiles,
                                        const Where& at, Part& z) {
  clear(z);
  const real* left = in + at.row * ROW + at.t;
  const real* right = weights + at.t * down + (at.column - 2 * at.t + at.g) * across;
  real x[S][4], y[NT][2];
  const auto next = [&] {
#pragma unroll
    for (int s = 0; s < S; ++s)
#pragma unroll
      for (int c = 0; c < 4; ++c) x[s][c] = left[(s * TILE + 8 * (c % 2)) * ROW + 4 * (c / 2)];
#pragma unroll
    for (int j = 0; j < NT; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) y[j][e] = right[8 * j * across + 4 * e * down];
    left += 8, right += 8 * down;
  };
  next();
#pragma unroll 1
  for (int k = 1; k <= tiles; ++k) {
    Factor a[S][4], b[NT][2];
#pragma unroll
    for (int s = 0; s < S; ++s)
#pragma unroll
      for (int c = 0; c < 4; ++c) a[s][c] = factor(x[s][c]);
#pragma unroll
    for (int j = 0; j < NT; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) b[j][e] = factor(y[j][e]);
    if (k < tiles) next();
    multiply_all(z, a, b);
  }
}

// The streams of a thread's c-th number of a tile of neurons, there and back.
__device__ __forceinline__ void get(const real (&from)[S][4], int c, real (&to)[S]) {
#pragma unroll
  for (int s = 0; s < S; ++s) to[s] = from[s][c];
}
__device__ __forceinline__ void put(const real (&from)[S], int c, real (&to)[S][4]) {
#pragma unroll
  for (int s = 0; s < S; ++s) to[s][c] = from[s];
}

// What was kept of a tile of neurons.
__device__ __forceinline__ void load(const real* kept, int layer, int warp, int j, real (&own)[S][4]) {
#pragma unroll
  for (int s = 0; s < S; ++s) {
    const float4 v = *reinterpret_cast<const float4*>(kept + KEPT(layer, s, warp, j));
    own[s][0] = v.x, own[s][1] = v.y, own[s][2] = v.z, own[s][3] = v.w;
  }
}

// Has what was kept of a layer brought near.
__device__ __forceinline__ void expect(const real* kept, int layer, int warp) {
#pragma unroll
  for (int i = threadIdx.x % 32; i < S * NT * 4; i += 32) {
    const size_t block = ((size_t)layer * S + i / (NT * 4)) * gridDim.x + blockIdx.x;
    expect(kept + block * TILE * W + (warp * NT * 4 + i % (NT * 4)) * 32);
  }
}

__device__ __forceinline__ void keep(const real (&own)[S][4], int layer, int warp, int j, real* kept) {
#pragma unroll
  for (int s = 0; s < S; ++s)
    *reinterpret_cast<float4*>(kept + KEPT(layer, s, warp, j)) =
        make_float4(own[s][0], own[s][1], own[s][2], own[s][3]);
}

// The jets of the encodings of a tile of neurons, where there are any.
__device__ __forceinline__ void encoded(const real* kept, int warp, int j, real (&a)[S][4], real (&b)[S][4]) {
#if MIXED
  real one[S][4], two[S][4];
  load(kept, D, warp, j, one);
  load(kept, D + 1, warp, j, two);
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    real own[S], jet[S];
    get(one, c, own), outer(own, jet), put(jet, c, a);
    get(two, c, own), outer(own, jet), put(jet, c, b);
  }
#endif
}

// What comes out of a layer of which so much was kept; `a` and `b` are the encodings, where there are any.
__device__ __forceinline__ void above(const real (&own)[S][4], const real (&a)[S][4], const real (&b)[S][4],
                                      real (&jet)[S][4]) {
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    real before[S], after[S];
    get(own, c, before), outer(before, after);
#if MIXED
    real first[S], second[S], mixture[S];
    get(a, c, first), get(b, c, second), mix(first, second, after, mixture), put(mixture, c, jet);
#else
    put(after, c, jet);
#endif
  }
}

// Rows of shared memory from what threads have of a tile of neurons.
__device__ __forceinline__ void stage(const real (&jet)[S][4], const Where& at, int j, real* to) {
#pragma unroll
  for (int s = 0; s < S; ++s)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      store(to + (s * TILE + at.row + 8 * half) * ROW + at.column + 8 * j, jet[s][2 * half], jet[s][2 * half + 1]);
}
