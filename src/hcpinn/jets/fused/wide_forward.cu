// A wide network forward.

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
hcpinn_forward(FEATURE_PARAMETERS, const real* __restrict__ first, const real* __restrict__ hidden,
               const real* __restrict__ bias, const real* __restrict__ last, real* __restrict__ out, real* kept) {
  extern __shared__ Cell shared[];
  const int run = blockIdx.y;
  const Where at = where();
  const real* features[S] = {FEATURE_NAMES};
  turn_to(run, features);
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
  real* weights = in + ROWS * ROW;
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
  for (int layer = 1 - FIRSTS; layer < D; ++layer) {
    const int place = layer < 0 ? D + FIRSTS - 1 + layer : layer;
    arrived();
    __syncthreads();
    Part z;
    product(in, weights, WIDE_ROW, 1, layer > 0 ? W / 8 : FT, at, z);
    __syncthreads();   // all have read what goes in, and the weights: both may be written over
    if (layer < -1) fetch_weights(weights, WIDE_ROW, first + (FIRSTS + layer + 1) * F * W, F, 8 * FT);
    else if (layer == -1) fetch_weights(weights, WIDE_ROW, first, F, 8 * FT);
    else if (layer < D - 1) fetch_weights(weights, WIDE_ROW, hidden + (size_t)layer * W * W, W, W);
#pragma unroll
    for (int j = 0; j < NT; ++j) {
      real own[S][4];
#pragma unroll
      for (int s = 0; s < S; ++s)
#pragma unroll
        for (int c = 0; c < 4; ++c) own[s][c] = z[s][j][c];
#pragma unroll
      for (int c = 0; c < 4; ++c) own[0][c] = begin(own[0][c] + __ldg(bias + place * W + at.column + 8 * j + c % 2));
      keep(own, place, at.warp, j, kept);
      if (layer >= 0) {
        real a[S][4], b[S][4], jet[S][4];
        encoded(kept, at.warp, j, a, b);
        above(own, a, b, jet);
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
