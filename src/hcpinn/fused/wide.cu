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
#define GW (WARPS / 2)         // warps along the columns of a gradient; two along its rows
#define GN (W / 8 / GW)        // tiles of 8 columns of a warp
#define GM 2                   // tiles of 16 rows that are added up at once

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

// A copy into shared memory that goes on beside what comes next, until arrived().
__device__ __forceinline__ void copy(real* to, const real* from) {
#ifdef EMULATED
  *to = *from;
#else
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");
#endif
}
__device__ __forceinline__ void arrived() {
#ifndef EMULATED
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Weights, with rows of zeros up to `filled`.
__device__ __forceinline__ void fetch_weights(real* to, int stride, const real* from, int rows, int filled) {
  for (int i = threadIdx.x; i < filled * W; i += THREADS) {
    real* at = to + (i / W) * stride + i % W;
    if (i / W < rows) copy(at, from + i);
    else *at = 0;
  }
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

// z = in times weights, of which entry (k, n) lies at k · down + n · across.
__device__ __forceinline__ void product(const real* in, const real* weights, int down, int across, int tiles,
                                        const Where& at, Part& z) {
  clear(z);
  const real* left = in + at.row * ROW + at.t;
  const real* right = weights + at.t * down + (at.column - 2 * at.t + at.g) * across;
#pragma unroll 1
  for (int k = 0; k < tiles; ++k, left += 8, right += 8 * down) {
    Factor a[S][4], b[NT][2];
#pragma unroll
    for (int s = 0; s < S; ++s)
#pragma unroll
      for (int c = 0; c < 4; ++c) a[s][c] = factor(left[(s * TILE + 8 * (c % 2)) * ROW + 4 * (c / 2)]);
#pragma unroll
    for (int j = 0; j < NT; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) b[j][e] = factor(right[8 * j * across + 4 * e * down]);
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

// The jets of the encodings of a tile of neurons.
#if MIXED
__device__ __forceinline__ void encoded(const real* kept, int warp, int j, real (&a)[S][4], real (&b)[S][4]) {
  real one[S][4], two[S][4];
  load(kept, D, warp, j, one);
  load(kept, D + 1, warp, j, two);
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    real own[S], jet[S];
    get(one, c, own), outer(own, jet), put(jet, c, a);
    get(two, c, own), outer(own, jet), put(jet, c, b);
  }
}
#endif

// What comes out of a layer of which so much was kept.
__device__ __forceinline__ void above(const real* kept, const real (&own)[S][4], int warp, int j, real (&jet)[S][4]) {
#if MIXED
  real a[S][4], b[S][4];
  encoded(kept, warp, j, a, b);
#endif
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

extern "C" __global__ void __launch_bounds__(THREADS, 1)
hcpinn_forward(FEATURE_PARAMETERS, const real* __restrict__ first, const real* __restrict__ hidden,
               const real* __restrict__ bias, const real* __restrict__ last, real* __restrict__ out, real* kept) {
  extern __shared__ Cell shared[];
  const int run = blockIdx.y;
  const Where at = where();
  const real* features[S] = {FEATURE_NAMES};
  if (OWN_FEATURES) {
#pragma unroll
    for (int s = 0; s < S; ++s) features[s] += (size_t)run * POINTS * F;
  }
  first += (size_t)run * FIRSTS * F * W;
  hidden += (size_t)run * (D - 1) * W * W;
  bias += (size_t)run * LAYERS * W;
  last += (size_t)run * C * W;
  out += (size_t)run * S * C * PADDED;
  kept += (size_t)run * LAYERS * S * PADDED * W;
  if (lost(last)) {
    for (int i = threadIdx.x; i < S * C * TILE; i += THREADS)
      out[(size_t)(i / TILE) * PADDED + blockIdx.x * TILE + i % TILE] = *last;
    return;
  }

  real* in = reinterpret_cast<real*>(shared);
  real* weights = in + ROWS * ROW;   // of this layer and of the next, by turns
  __shared__ real parts[CW][C * S][TILE];
  real sums[C][S][2];
#pragma unroll
  for (int k = 0; k < C; ++k)
#pragma unroll
    for (int s = 0; s < S; ++s) sums[k][s][0] = sums[k][s][1] = 0;

  // Encodings come first, then the layers; `layer` is negative for the former.
  fetch_features(in, features);
  fetch_weights(weights, WIDE_ROW, first + (MIXED ? F * W : 0), F, 8 * FT);
#pragma unroll 1
  for (int layer = 1 - FIRSTS, turn = 0; layer < D; ++layer, turn ^= 1) {
    const int place = layer < 0 ? D + FIRSTS - 1 + layer : layer;
    arrived();
    __syncthreads();
    real* following = weights + (turn ^ 1) * W * WIDE_ROW;
    if (layer < -1) fetch_weights(following, WIDE_ROW, first + (FIRSTS + layer + 1) * F * W, F, 8 * FT);
    else if (layer == -1) fetch_weights(following, WIDE_ROW, first, F, 8 * FT);
    else if (layer < D - 1) fetch_weights(following, WIDE_ROW, hidden + (size_t)layer * W * W, W, W);
    Part z;
    product(in, weights + turn * W * WIDE_ROW, WIDE_ROW, 1, layer > 0 ? W / 8 : FT, at, z);
    if (layer >= 0) __syncthreads();   // all have read what goes in, and it may be written over
#pragma unroll
    for (int j = 0; j < NT; ++j) {
      real own[S][4];
#pragma unroll
      for (int s = 0; s < S; ++s)
#pragma unroll
        for (int c = 0; c < 4; ++c) own[s][c] = z[s][j][c];
#pragma unroll
      for (int c = 0; c < 4; ++c) own[0][c] = begin(own[0][c] + __ldg(bias + place * W + at.column + 8 * j + c % 2));
#pragma unroll
      for (int s = 0; s < S; ++s)
        *reinterpret_cast<float4*>(kept + KEPT(place, s, at.warp, j)) =
            make_float4(own[s][0], own[s][1], own[s][2], own[s][3]);
      if (layer >= 0) {
        real jet[S][4];
        above(kept, own, at.warp, j, jet);
        if (layer < D - 1) {
          stage(jet, at, j, in);
        } else {
#pragma unroll
          for (int k = 0; k < C; ++k)
#pragma unroll
            for (int s = 0; s < S; ++s)
#pragma unroll
              for (int c = 0; c < 4; ++c)
                sums[k][s][c / 2] += jet[s][c] * __ldg(last + k * W + at.column + 8 * j + c % 2);
        }
      }
    }
  }

#pragma unroll
  for (int k = 0; k < C; ++k)
#pragma unroll
    for (int s = 0; s < S; ++s)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        real sum = sums[k][s][half];
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        if (at.t == 0) parts[at.warp % CW][s * C + k][at.row + 8 * half] = sum;
      }
  __syncthreads();
  for (int i = threadIdx.x; i < S * C * TILE; i += THREADS) {
    real sum = 0;
#pragma unroll
    for (int w = 0; w < CW; ++w) sum += parts[w][i / TILE][i % TILE];
    out[(size_t)(i / TILE) * PADDED + blockIdx.x * TILE + i % TILE] = sum;
  }
}

// A thread's share of the sum over the points of a tile, for columns 2t and 2t + 1: added up in the warp.
__device__ __forceinline__ void add_points(real (&sum)[2], const Where& at, int j, real* to) {
#pragma unroll
  for (int e = 0; e < 2; ++e) {
#pragma unroll
    for (int mask = 4; mask < 32; mask *= 2) sum[e] += __shfl_xor_sync(0xffffffffu, sum[e], mask);
    if (at.g == 0) to[at.column + 8 * j + e] = sum[e];
  }
}

// The gradient of weights: rows of `below` times rows of `inner`, two of 16 in their order taken alternately.
__device__ __forceinline__ void correlate(const real* below, const real* inner, int rows, const Where& at, real* to) {
  const int first = (at.warp % GW) * GN * 8;
#pragma unroll 1
  for (int top = 16 * GM * (at.warp / GW); top < rows; top += 2 * 16 * GM) {
    real sums[GM][GN][4];
#pragma unroll
    for (int m = 0; m < GM; ++m)
#pragma unroll
      for (int n = 0; n < GN; ++n)
#pragma unroll
        for (int c = 0; c < 4; ++c) sums[m][n][c] = 0;
    const real* left = below + 2 * at.t * ROW + top + at.g;
    const real* right = inner + 2 * at.t * ROW + first + at.g;
#pragma unroll 1
    for (int k = 0; k < ROWS; k += 8, left += 8 * ROW, right += 8 * ROW) {
      Factor a[GM][4], b[GN][2];
#pragma unroll
      for (int m = 0; m < GM; ++m)
#pragma unroll
        for (int c = 0; c < 4; ++c) a[m][c] = factor(left[(c / 2) * ROW + 16 * m + 8 * (c % 2)]);
#pragma unroll
      for (int n = 0; n < GN; ++n)
#pragma unroll
        for (int e = 0; e < 2; ++e) b[n][e] = factor(right[e * ROW + 8 * n]);
      multiply_all(sums, a, b);
    }
#pragma unroll
    for (int m = 0; m < GM; ++m)
#pragma unroll
      for (int n = 0; n < GN; ++n)
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const int row = top + 16 * m + at.g + 8 * (c / 2);
          if (row < rows) to[row * W + first + 8 * n + 2 * at.t + c % 2] = sums[m][n][c];
        }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
hcpinn_backward(FEATURE_PARAMETERS, const real* __restrict__ hidden, const real* __restrict__ last,
                const real* __restrict__ kept, const real* __restrict__ cotangent, real* __restrict__ gradient) {
  extern __shared__ Cell shared[];
  const int run = blockIdx.y;
  const Where at = where();
  const real* features[S] = {FEATURE_NAMES};
  if (OWN_FEATURES) {
#pragma unroll
    for (int s = 0; s < S; ++s) features[s] += (size_t)run * POINTS * F;
  }
  hidden += (size_t)run * (D - 1) * W * W;
  last += (size_t)run * C * W;
  kept += (size_t)run * LAYERS * S * PADDED * W;
  cotangent += (size_t)run * S * C * PADDED + blockIdx.x * TILE;
  gradient += ((size_t)run * gridDim.x + blockIdx.x) * TOTAL;
  if (lost(last)) {
    for (int i = threadIdx.x; i < TOTAL; i += THREADS) gradient[i] = *last;
    return;
  }

  real* inner = reinterpret_cast<real*>(shared);
  real* below = inner + ROWS * ROW;
  real* weights = below + ROWS * ROW;
  __shared__ real vectors[PW][C * W];

  // The cotangent after the last layer, and the gradient of the last weights.
  Part wanted;
  clear(wanted);
#pragma unroll
  for (int k = 0; k < C; ++k) {
    real given[S][2];
#pragma unroll
    for (int s = 0; s < S; ++s)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        given[s][half] = __ldg(cotangent + ((size_t)s * C + k) * PADDED + at.row + 8 * half);
#pragma unroll
    for (int j = 0; j < NT; ++j) {
      real own[S][4], jet[S][4], sum[2] = {0, 0};
      load(kept, D - 1, at.warp, j, own);
      above(kept, own, at.warp, j, jet);
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const real w = __ldg(last + k * W + at.column + 8 * j + c % 2);
#pragma unroll
        for (int s = 0; s < S; ++s) {
          sum[c % 2] += given[s][c / 2] * jet[s][c];
          wanted[s][j][c] += given[s][c / 2] * w;
        }
      }
      add_points(sum, at, j, vectors[at.warp / CW] + k * W);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < C * W; i += THREADS) {
    real sum = 0;
#pragma unroll
    for (int w = 0; w < PW; ++w) sum += vectors[w][i];
    gradient[AT_LAST + i] = sum;
  }
  __syncthreads();

#if MIXED
  Part of_one, of_two;   // cotangents of the encodings, over all layers
  clear(of_one);
  clear(of_two);
#endif

  // Layers 0, −1 and −2 read the features: the first, and those that encode.
#pragma unroll 1
  for (int layer = D - 1; layer > -FIRSTS; --layer) {
    const int place = layer < 0 ? D - 1 - layer : layer;
    // Through the activation: the cotangent of what goes into it, and the gradient of the bias.
#pragma unroll
    for (int j = 0; j < NT; ++j) {
      real own[S][4], sum[2] = {0, 0};
      load(kept, place, at.warp, j, own);
#if MIXED
      real a[S][4], b[S][4];
      if (layer >= 0) encoded(kept, at.warp, j, a, b);
#endif
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        real before[S], after[S], result[S];
        get(own, c, before);
#pragma unroll
        for (int s = 0; s < S; ++s) after[s] = wanted[s][j][c];
#if MIXED
        if (layer >= 0) {
          real first[S], second[S], jet[S], of_a[S], of_b[S], of_jet[S];
          get(a, c, first), get(b, c, second), outer(before, jet);
          unmix(first, second, jet, after, of_a, of_b, of_jet);
#pragma unroll
          for (int s = 0; s < S; ++s) {
            of_one[s][j][c] += of_a[s], of_two[s][j][c] += of_b[s];
            after[s] = of_jet[s];
          }
        } else {
#pragma unroll
          for (int s = 0; s < S; ++s) after[s] = layer == -1 ? of_one[s][j][c] : of_two[s][j][c];
        }
#endif
        pull(before, after, result);
#pragma unroll
        for (int s = 0; s < S; ++s) wanted[s][j][c] = result[s];
        sum[c % 2] += result[0];
      }
      add_points(sum, at, j, vectors[at.warp / CW]);
    }
    __syncthreads();   // all are done with the layer above
    for (int i = threadIdx.x; i < W; i += THREADS) {
      real sum = 0;
#pragma unroll
      for (int w = 0; w < PW; ++w) sum += vectors[w][i];
      gradient[AT_BIAS + place * W + i] = sum;
    }
    if (layer > 0) fetch_weights(weights, ROW, hidden + (size_t)(layer - 1) * W * W, W, W);
    else fetch_features(below, features);
#pragma unroll
    for (int j = 0; j < NT; ++j) {
      real jet[S][4];
#pragma unroll
      for (int s = 0; s < S; ++s)
#pragma unroll
        for (int c = 0; c < 4; ++c) jet[s][c] = wanted[s][j][c];
      stage(jet, at, j, inner);
      if (layer > 0) {
        real own[S][4];
        load(kept, layer - 1, at.warp, j, own);
        above(kept, own, at.warp, j, jet);
        stage(jet, at, j, below);
      }
    }
    arrived();
    __syncthreads();
    // The cotangent after the layer below, and the gradient of the weights.
    if (layer > 0) product(inner, weights, 1, ROW, W / 8, at, wanted);
    correlate(below, inner, layer > 0 ? W : F, at,
              gradient + (layer > 0 ? AT_HIDDEN + (layer - 1) * W * W : -layer * F * W));
  }
}
