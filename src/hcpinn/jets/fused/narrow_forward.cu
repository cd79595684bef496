// A narrow network forward.

#define FT ((F + 7) / 8)       // tiles of 8 features
#define PAIRS ((S + 1) / 2)

// Weights as the matrix unit takes them from the right: rows 2t and 2t + 1 of 8, column g of 8.
__device__ __forceinline__ void prepare_ahead(Cell* to, const real* from, int rows, int row_tiles) {
#pragma unroll 4
  for (int i = threadIdx.x; i < row_tiles * NT * 32; i += THREADS) {
    const int tile = i / 32, lane = i % 32;
    const int row = 8 * (tile / NT) + 2 * (lane % 4), column = 8 * (tile % NT) + lane / 4;
    const real a = row < rows ? __ldg(from + (size_t)row * W + column) : real(0);
    const real b = row + 1 < rows ? __ldg(from + (size_t)(row + 1) * W + column) : real(0);
    to[i] = pair(factor(a), factor(b));
  }
}

__device__ __forceinline__ void clear(real (&z)[PAIRS][NT][4]) {
#pragma unroll
  for (int p = 0; p < PAIRS; ++p)
#pragma unroll
    for (int j = 0; j < NT; ++j)
#pragma unroll
      for (int c = 0; c < 4; ++c) z[p][j][c] = 0;
}

// z += a times the k-th 8 rows of the weights.
__device__ __forceinline__ void multiply_row(real (&z)[PAIRS][NT][4], const Factor (&a)[PAIRS][4], const Cell* weights,
                                             int k) {
#pragma unroll
  for (int j = 0; j < NT; ++j) {
    Factor b[2];
    unpack(weights[(k * NT + j) * 32], b);
#pragma unroll
    for (int p = 0; p < PAIRS; ++p) multiply(z[p][j], a[p], b);
  }
}

// z = features times weights.
__device__ __forceinline__ void read_features(const real* const (&features)[S], int point, int t, const Cell* weights,
                                              real (&z)[PAIRS][NT][4]) {
  clear(z);
#pragma unroll
  for (int k = 0; k < FT; ++k) {
    Factor a[PAIRS][4];
#pragma unroll
    for (int p = 0; p < PAIRS; ++p) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        a[p][2 * e] = factor(feature(features[2 * p], point, 8 * k + 2 * t + e));
        a[p][2 * e + 1] =
            2 * p + 1 < S ? factor(feature(features[2 * p + 1 < S ? 2 * p + 1 : 0], point, 8 * k + 2 * t + e))
                          : Factor{};
      }
    }
    multiply_row(z, a, weights, k);
  }
}

// What is to be kept of two neurons, 8 apart.
__device__ __forceinline__ void start(const real (&z)[PAIRS][NT][4], const real* bias, int i, int e, int t,
                                      real (&own)[2][S]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int j = 2 * i + half;
#pragma unroll
    for (int s = 0; s < S; ++s) own[half][s] = z[s / 2][j][2 * (s % 2) + e];
    own[half][0] = begin(own[half][0] + __ldg(bias + 8 * j + 2 * t + e));
  }
}

// Rows g and g + 8 of a forward tile are two streams of point g; columns 2t and 2t + 1 two neurons.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
hcpinn_forward(FEATURE_PARAMETERS, const real* __restrict__ first, const real* __restrict__ hidden,
               const real* __restrict__ bias, const real* __restrict__ last, real* __restrict__ out,
               real* __restrict__ kept) {
  extern __shared__ Cell shared[];
  const int run = blockIdx.y, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int point = blockIdx.x * TILE + (threadIdx.x / 32) * 8 + g;
  const real* features[S] = {FEATURE_NAMES};
  turn_to(run, features);
  first += (size_t)run * FIRSTS * F * W;
  hidden += (size_t)run * (D - 1) * W * W;
  bias += (size_t)run * LAYERS * W;
  last += (size_t)run * C * W;
  out += (size_t)run * S * C * PADDED;
  kept += (size_t)run * LAYERS * S * PADDED * W;
  if (lost(last)) {
    for (int i = t; i < S * C; i += 4) out[(size_t)i * PADDED + point] = *last;
    return;
  }

  real jet[S][NT][2];   // after the activation
  real z[PAIRS][NT][4];
  const Cell* weights = shared + lane;
  if (RESIDENT) {
#pragma unroll
    for (int n = 0; n < FIRSTS; ++n) prepare_ahead(shared + n * FT * NT * 32, first + n * F * W, F, FT);
    prepare_ahead(shared + FIRSTS * FT * NT * 32, hidden, (D - 1) * W, (D - 1) * NT);
    __syncthreads();
  }
#if MIXED
#pragma unroll 1
  for (int n = 1; n < FIRSTS; ++n) {
    if (RESIDENT) {
      weights = shared + n * FT * NT * 32 + lane;
    } else {
      __syncthreads();
      prepare_ahead(shared, first + n * F * W, F, FT);
      __syncthreads();
    }
    read_features(features, point, t, weights, z);
#pragma unroll
    for (int i = 0; i < MT; ++i)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        real own[2][S];
        start(z, bias + (D - 1 + n) * W, i, e, t, own);
#pragma unroll
        for (int s = 0; s < S; ++s)
          store(kept + KEPT(D - 1 + n, s, point / 8, i) + 16 * (2 * t + e) + 2 * g, own[0][s], own[1][s]);
      }
  }
  weights = shared + lane;
#endif
  if (!RESIDENT) {
    if (MIXED) __syncthreads();
    prepare_ahead(shared, first, F, FT);
    __syncthreads();
  }
  read_features(features, point, t, weights, z);

#pragma unroll 1
  for (int layer = 0; layer < D; ++layer) {
    if (layer > 0) {
      if (RESIDENT) {
        weights = shared + (FIRSTS * FT + (layer - 1) * NT) * NT * 32 + lane;
      } else {
        __syncthreads();
        prepare_ahead(shared, hidden + (size_t)(layer - 1) * W * W, W, NT);
        __syncthreads();
      }
      clear(z);
#pragma unroll
      for (int k = 0; k < NT; ++k) {
        Factor a[PAIRS][4];
#pragma unroll
        for (int p = 0; p < PAIRS; ++p) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            a[p][2 * e] = factor(jet[2 * p][k][e]);
            a[p][2 * e + 1] = 2 * p + 1 < S ? factor(jet[2 * p + 1 < S ? 2 * p + 1 : 0][k][e]) : Factor{};
          }
        }
        multiply_row(z, a, weights, k);
      }
    }
#pragma unroll
    for (int i = 0; i < MT; ++i)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        real own[2][S];
        start(z, bias + layer * W, i, e, t, own);
#if MIXED
        real one[2][S], two[2][S];   // as this thread left them
#pragma unroll
        for (int s = 0; s < S; ++s)
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            one[half][s] = kept[KEPT(D, s, point / 8, i) + 16 * (2 * t + e) + 2 * g + half];
            two[half][s] = kept[KEPT(D + 1, s, point / 8, i) + 16 * (2 * t + e) + 2 * g + half];
          }
#endif
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          real after[S];
          outer(own[half], after);
#if MIXED
          real a[S], b[S], mixture[S];
          outer(one[half], a);
          outer(two[half], b);
          mix(a, b, after, mixture);
#pragma unroll
          for (int s = 0; s < S; ++s) after[s] = mixture[s];
#endif
#pragma unroll
          for (int s = 0; s < S; ++s) jet[s][2 * i + half][e] = after[s];
        }
#pragma unroll
        for (int s = 0; s < S; ++s)
          store(kept + KEPT(layer, s, point / 8, i) + 16 * (2 * t + e) + 2 * g, own[0][s], own[1][s]);
      }
  }

#pragma unroll
  for (int c = 0; c < C; ++c) {
#pragma unroll
    for (int s = 0; s < S; ++s) {
      real sum = 0;
#pragma unroll
      for (int j = 0; j < NT; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) sum += jet[s][j][e] * __ldg(last + c * W + 8 * j + 2 * t + e);
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      if (t == 0) out[((size_t)s * C + c) * PADDED + point] = sum;
    }
  }
}
