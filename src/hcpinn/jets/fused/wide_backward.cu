// A wide network back.

// A thread's share of the sum over the points of a tile, for columns 2t and 2t + 1: added up in the warp.
__device__ __forceinline__ void add_points(real (&sum)[2], const Where& at, int j, real* to) {
#pragma unroll
  for (int e = 0; e < 2; ++e) {
#pragma unroll
    for (int mask = 4; mask < 32; mask *= 2) sum[e] += __shfl_xor_sync(0xffffffffu, sum[e], mask);
    if (at.g == 0) to[at.column + 8 * j + e] = sum[e];
  }
}

#define GW (WARPS / 2)         // warps along the columns of a gradient; two along its rows
#define GN (W / 8 / GW)        // tiles of 8 columns of a warp

// The gradient of weights: rows of `below` times rows of `inner`. GM tiles of 16 rows of it are added up at once.
template <int GM>
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
    real x[GM][4], y[GN][2];
    const auto next = [&] {
#pragma unroll
      for (int m = 0; m < GM; ++m)
#pragma unroll
        for (int c = 0; c < 4; ++c) x[m][c] = left[(c / 2) * ROW + 16 * m + 8 * (c % 2)];
#pragma unroll
      for (int n = 0; n < GN; ++n)
#pragma unroll
        for (int e = 0; e < 2; ++e) y[n][e] = right[e * ROW + 8 * n];
      left += 8 * ROW, right += 8 * ROW;
    };
    next();
#pragma unroll 1
    for (int k = 8; k <= ROWS; k += 8) {
      Factor a[GM][4], b[GN][2];
#pragma unroll
      for (int m = 0; m < GM; ++m)
#pragma unroll
        for (int c = 0; c < 4; ++c) a[m][c] = factor(x[m][c]);
#pragma unroll
      for (int n = 0; n < GN; ++n)
#pragma unroll
        for (int e = 0; e < 2; ++e) b[n][e] = factor(y[n][e]);
      if (k < ROWS) next();
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

// Through the activation of an encoding, of which the cotangents are complete.
__device__ __forceinline__ void through_encoding(const real* kept, const real* of_encodings, int layer, const Where& at,
                                                 real* inner, real* of_bias) {
#pragma unroll
  for (int j = 0; j < NT; ++j) {
    real own[S][4], wanted[S][4], inside[S][4], sum[2] = {0, 0};
    load(kept, D - 1 - layer, at.warp, j, own);
    load(of_encodings, -1 - layer, at.warp, j, wanted);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      real before[S], after[S], result[S];
      get(own, c, before), get(wanted, c, after), pull(before, after, result), put(result, c, inside);
      sum[c % 2] += result[0];
    }
    stage(inside, at, j, inner);
    add_points(sum, at, j, of_bias);
  }
}

// Through the activation of a layer: the cotangent of what goes into it, and the gradient of the bias; and beside it,
// what came from the layer below.
__device__ __forceinline__ void through(const real* kept, real* of_encodings, int layer, const Where& at,
                                        const Part& wanted, real* inner, real* below, real* of_bias) {
#pragma unroll
  for (int j = 0; j < NT; ++j) {
    real own[S][4], a[S][4], b[S][4], inside[S][4], sum[2] = {0, 0};
    load(kept, layer, at.warp, j, own);
    encoded(kept, at.warp, j, a, b);
#if MIXED
    real of_a[S][4], of_b[S][4];
#pragma unroll
    for (int s = 0; s < S; ++s)
#pragma unroll
      for (int c = 0; c < 4; ++c) of_a[s][c] = of_b[s][c] = 0;
    if (layer < D - 1) load(of_encodings, 0, at.warp, j, of_a), load(of_encodings, 1, at.warp, j, of_b);
#endif
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      real before[S], after[S], result[S];
      get(own, c, before);
#pragma unroll
      for (int s = 0; s < S; ++s) after[s] = wanted[s][j][c];
#if MIXED
      real first[S], second[S], jet[S], to_first[S], to_second[S], to_jet[S];
      get(a, c, first), get(b, c, second), outer(before, jet);
      unmix(first, second, jet, after, to_first, to_second, to_jet);
#pragma unroll
      for (int s = 0; s < S; ++s) of_a[s][c] += to_first[s], of_b[s][c] += to_second[s], after[s] = to_jet[s];
#endif
      pull(before, after, result), put(result, c, inside);
      sum[c % 2] += result[0];
    }
#if MIXED
    keep(of_a, 0, at.warp, j, of_encodings), keep(of_b, 1, at.warp, j, of_encodings);
#endif
    stage(inside, at, j, inner);
    add_points(sum, at, j, of_bias);
    if (layer > 0) {
      real jet[S][4];
      load(kept, layer - 1, at.warp, j, own);
      above(own, a, b, jet);
      stage(jet, at, j, below);
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
hcpinn_backward(FEATURE_PARAMETERS, const real* __restrict__ hidden, const real* __restrict__ last,
                const real* __restrict__ kept, const real* __restrict__ cotangent, real* __restrict__ gradient
#if MIXED
                , real* of_encodings
#endif
) {
  extern __shared__ Cell shared[];
  const int run = blockIdx.y;
  const Where at = where();
  const real* features[S] = {FEATURE_NAMES};
  turn_to(run, features);
  hidden += (size_t)run * (D - 1) * W * W;
  last += (size_t)run * C * W;
  kept += (size_t)run * LAYERS * S * PADDED * W;
#if MIXED
  // The cotangents of the encodings, over all layers. Each thread reads what it has written itself.
  of_encodings += (size_t)run * 2 * S * PADDED * W;
#else
  real* of_encodings = nullptr;
#endif
  cotangent += (size_t)run * S * C * PADDED + blockIdx.x * TILE;
  gradient += ((size_t)run * gridDim.x + blockIdx.x) * TOTAL;
  if (lost(last)) {
    for (int i = threadIdx.x; i < TOTAL; i += THREADS) gradient[i] = *last;
    return;
  }

  expect(kept, D - 1, at.warp);
  expect(kept, D - 2, at.warp);
#if MIXED
  expect(kept, D, at.warp);
  expect(kept, D + 1, at.warp);
#endif
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
      real own[S][4], a[S][4], b[S][4], jet[S][4], sum[2] = {0, 0};
      load(kept, D - 1, at.warp, j, own);
      encoded(kept, at.warp, j, a, b);
      above(own, a, b, jet);
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

  // Layers 0, −1 and −2 read the features: the first, and those that encode.
#pragma unroll 1
  for (int layer = D - 1; layer > -FIRSTS; --layer) {
    __syncthreads();   // all are done with the layer above
    if (layer > 0) fetch_weights(weights, ROW, hidden + (size_t)(layer - 1) * W * W, W, W);
    else if (layer == 0) fetch_features(below, features);
    if (layer < 0) through_encoding(kept, of_encodings, layer, at, inner, vectors[at.warp / CW]);
    else through(kept, of_encodings, layer, at, wanted, inner, below, vectors[at.warp / CW]);
    if (layer > 1) expect(kept, layer - 2, at.warp);
    arrived();
    __syncthreads();
    for (int i = threadIdx.x; i < W; i += THREADS) {
      real sum = 0;
#pragma unroll
      for (int w = 0; w < PW; ++w) sum += vectors[w][i];
      gradient[AT_BIAS + (layer < 0 ? D - 1 - layer : layer) * W + i] = sum;
    }
    // The gradient of the weights, and the cotangent after the layer below.
    if (layer > 0) {
      correlate<W / 32>(below, inner, W, at, gradient + AT_HIDDEN + (layer - 1) * W * W);
      product(inner, weights, 1, ROW, W / 8, at, wanted);
    } else {
      correlate<2>(below, inner, F, at, gradient - layer * F * W);
    }
  }
}
