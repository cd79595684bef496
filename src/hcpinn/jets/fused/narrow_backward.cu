// A narrow network back.

#define FM ((F + 15) / 16)     // tiles of 16 features
#define ROW (W + 4)            // numbers between points in shared memory, so that banks differ
#define SLOT_STAGE (S * 8 * ROW)
#define MC (MT < 2 ? MT : 2)   // tiles of 16 rows whose gradients are added up at once
#define SLOT_SUM (MC * NT * 4 * 32)
#define SLOT (SLOT_STAGE > SLOT_SUM ? SLOT_STAGE : SLOT_SUM)

// Weights as the matrix unit takes them from the left: rows g and g + 8 of 16, columns t and t + 4 of 8.
__device__ __forceinline__ void prepare_back(Cell* to, const real* from, int row_tiles) {
#pragma unroll 2
  for (int i = threadIdx.x; i < row_tiles * NT * 32; i += THREADS) {
    const int tile = i / 32, lane = i % 32;
    const real* at = from + ((size_t)(tile / NT) * 16 + lane / 4) * W + 8 * (tile % NT) + lane % 4;
    const Factor a[4] = {factor(__ldg(at)), factor(__ldg(at + 8 * W)), factor(__ldg(at + 4)),
                         factor(__ldg(at + 8 * W + 4))};
    pack(a, to[2 * tile * 32 + lane], to[(2 * tile + 1) * 32 + lane]);
  }
}

// Rows g and g + 8 of a backward tile are neurons, columns 2t and 2t + 1 points.
__device__ __forceinline__ void load(const real* kept, int layer, int tile, int lane, int i, real (&own)[S][4]) {
#pragma unroll
  for (int s = 0; s < S; ++s) {
    real v[4];
    fetch(kept + KEPT(layer, s, tile, i) + 4 * lane, v);
    own[s][0] = v[0], own[s][2] = v[1], own[s][1] = v[2], own[s][3] = v[3];
  }
}

// Has what was kept of a layer brought near.
__device__ __forceinline__ void expect(const real* kept, int layer, int tile, int lane) {
  const int size = 128 / sizeof(real), lines = MT * sizeof(real);
#pragma unroll
  for (int i = lane; i < S * lines; i += 32) expect(kept + KEPT(layer, i / lines, tile, 0) + (i % lines) * size);
}

#if MIXED
__device__ __forceinline__ void encodings(const real* kept, int tile, int lane, int i, real (&one)[S][4],
                                          real (&two)[S][4]) {
  load(kept, D, tile, lane, i, one);
  load(kept, D + 1, tile, lane, i, two);
}

// Their jets, at one neuron and point.
__device__ __forceinline__ void encoded(const real (&one)[S][4], const real (&two)[S][4], int c, real (&a)[S],
                                        real (&b)[S]) {
  real first[S], second[S];
#pragma unroll
  for (int s = 0; s < S; ++s) first[s] = one[s][c], second[s] = two[s][c];
  outer(first, a);
  outer(second, b);
}
#endif

// What comes out of a layer.
__device__ __forceinline__ void above(const real* kept, int layer, int tile, int lane, int i, real (&jet)[S][4]) {
  real own[S][4];
  load(kept, layer, tile, lane, i, own);
#if MIXED
  real one[S][4], two[S][4];
  encodings(kept, tile, lane, i, one, two);
#endif
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    real before[S], after[S];
#pragma unroll
    for (int s = 0; s < S; ++s) before[s] = own[s][c];
    outer(before, after);
#if MIXED
    real a[S], b[S], mixture[S];
    encoded(one, two, c, a, b);
    mix(a, b, after, mixture);
#pragma unroll
    for (int s = 0; s < S; ++s) after[s] = mixture[s];
#endif
#pragma unroll
    for (int s = 0; s < S; ++s) jet[s][c] = after[s];
  }
}

// Adds up what the warps found, in the order of the warps, and writes it.
__device__ __forceinline__ void add_up(const real* slots, real* to, int rows, int first_row) {
  for (int i = threadIdx.x; i < SLOT_SUM; i += THREADS) {
    real sum = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) sum += slots[w * SLOT + i];
    const int lane = i % 32, c = (i / 32) % 4, j = (i / 128) % NT, m = i / (128 * NT);
    const int row = first_row + 16 * m + lane / 4 + 8 * (c / 2), column = 8 * j + 2 * (lane % 4) + c % 2;
    if (row < rows) to[row * W + column] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
hcpinn_backward(FEATURE_PARAMETERS, const real* __restrict__ hidden, const real* __restrict__ last,
                const real* __restrict__ kept, const real* __restrict__ cotangent,
                real* __restrict__ gradient) {
  extern __shared__ Cell shared[];
  const int run = blockIdx.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int start = blockIdx.x * TILE + warp * 8;
  const real* features[S] = {FEATURE_NAMES};
  turn_to(run, features);
  hidden += (size_t)run * (D - 1) * W * W;
  last += (size_t)run * C * W;
  kept += (size_t)run * LAYERS * S * PADDED * W;
  cotangent += (size_t)run * S * C * PADDED;
  gradient += ((size_t)run * gridDim.x + blockIdx.x) * TOTAL;
  if (lost(last)) {
    for (int i = threadIdx.x; i < TOTAL; i += THREADS) gradient[i] = *last;
    return;
  }

  expect(kept, D - 1, start / 8, lane);
  expect(kept, D - 2, start / 8, lane);
  if (RESIDENT) prepare_back(shared, hidden, (D - 1) * MT);
  real* slots = reinterpret_cast<real*>(shared + (RESIDENT ? D - 1 : 1) * MT * NT * 64);
  real* slot = slots + warp * SLOT;
  __shared__ real vectors[WARPS][C > 1 ? C * W : W];
  __syncthreads();

  // The cotangent after the last layer, and the gradient of the last weights.
  real wanted[MT][S][4];
#pragma unroll
  for (int i = 0; i < MT; ++i)
#pragma unroll
    for (int s = 0; s < S; ++s)
#pragma unroll
      for (int c = 0; c < 4; ++c) wanted[i][s][c] = 0;
#pragma unroll
  for (int k = 0; k < C; ++k) {
    real given[S][2];
#pragma unroll
    for (int s = 0; s < S; ++s)
#pragma unroll
      for (int e = 0; e < 2; ++e) given[s][e] = __ldg(cotangent + ((size_t)s * C + k) * PADDED + start + 2 * t + e);
#pragma unroll
    for (int i = 0; i < MT; ++i) {
      real jet[S][4];
      above(kept, D - 1, start / 8, lane, i, jet);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const real w = __ldg(last + k * W + 16 * i + 8 * half + g);
        real sum = 0;
#pragma unroll
        for (int e = 0; e < 2; ++e)
#pragma unroll
          for (int s = 0; s < S; ++s) {
            sum += given[s][e] * jet[s][2 * half + e];
            wanted[i][s][2 * half + e] += given[s][e] * w;
          }
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        if (t == 0) vectors[warp][k * W + 16 * i + 8 * half + g] = sum;
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < C * W; i += THREADS) {
    real sum = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) sum += vectors[w][i];
    gradient[AT_LAST + i] = sum;
  }
  __syncthreads();

#if MIXED
  real of_one[MT][S][4], of_two[MT][S][4];   // cotangents of the encodings, over all layers
#pragma unroll
  for (int i = 0; i < MT; ++i)
#pragma unroll
    for (int s = 0; s < S; ++s)
#pragma unroll
      for (int c = 0; c < 4; ++c) of_one[i][s][c] = of_two[i][s][c] = 0;
#endif

  // Layers 0, −1 and −2 read the features: the first, and those that encode.
#pragma unroll 1
  for (int layer = D - 1; layer > -FIRSTS; --layer) {
    const int place = layer < 0 ? D - 1 - layer : layer;
    if (layer > 1) expect(kept, layer - 2, start / 8, lane);
    if (!RESIDENT && layer > 0) {
      prepare_back(shared, hidden + (size_t)(layer - 1) * W * W, MT);
      __syncthreads();
    }
    // Through the activation: the cotangent of what goes into it, and the gradient of the bias.
    real inner[MT][S][4];
#pragma unroll
    for (int i = 0; i < MT; ++i) {
      real own[S][4];
      load(kept, place, start / 8, lane, i, own);
#if MIXED
      real one[S][4], two[S][4];
      encodings(kept, start / 8, lane, i, one, two);
#endif
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        real before[S], after[S], result[S];
#pragma unroll
        for (int s = 0; s < S; ++s) before[s] = own[s][c], after[s] = wanted[i][s][c];
#if MIXED
        if (layer >= 0) {
          real a[S], b[S], jet[S], of_a[S], of_b[S], of_jet[S];
          outer(before, jet);
          encoded(one, two, c, a, b);
          unmix(a, b, jet, after, of_a, of_b, of_jet);
#pragma unroll
          for (int s = 0; s < S; ++s) {
            of_one[i][s][c] += of_a[s], of_two[i][s][c] += of_b[s];
            after[s] = of_jet[s];
          }
        } else {
#pragma unroll
          for (int s = 0; s < S; ++s) after[s] = layer == -1 ? of_one[i][s][c] : of_two[i][s][c];
        }
#endif
        pull(before, after, result);
#pragma unroll
        for (int s = 0; s < S; ++s) inner[i][s][c] = result[s];
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        real sum = inner[i][0][2 * half] + inner[i][0][2 * half + 1];
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        if (t == 0) vectors[warp][16 * i + 8 * half + g] = sum;
      }
    }

    // The cotangent after the layer below: weights times `inner`, whose columns the threads exchange.
    if (layer > 0) {
#pragma unroll
      for (int s = 0; s < S; ++s)
#pragma unroll
        for (int i = 0; i < MT; ++i)
#pragma unroll
          for (int c = 0; c < 4; ++c)
            slot[(s * 8 + 2 * t + c % 2) * ROW + 16 * i + 8 * (c / 2) + g] = inner[i][s][c];
      __syncwarp();
#pragma unroll
      for (int i = 0; i < MT; ++i)
#pragma unroll
        for (int s = 0; s < S; ++s)
#pragma unroll
          for (int c = 0; c < 4; ++c) wanted[i][s][c] = 0;
      const Cell* weights = shared + (RESIDENT ? layer - 1 : 0) * MT * NT * 64 + lane;
#pragma unroll
      for (int j = 0; j < NT; ++j) {
        Factor b[S][2];
#pragma unroll
        for (int s = 0; s < S; ++s)
#pragma unroll
          for (int e = 0; e < 2; ++e) b[s][e] = factor(slot[(s * 8 + g) * ROW + 8 * j + t + 4 * e]);
#pragma unroll
        for (int i = 0; i < MT; ++i) {
          Factor a[4];
          unpack(weights[(i * NT + j) * 64], weights[(i * NT + j) * 64 + 32], a);
#pragma unroll
          for (int s = 0; s < S; ++s) multiply(wanted[i][s], a, b[s]);
        }
      }
      __syncwarp();
    }

    // The gradient of the weights: what came in from below times `inner`, summed over streams and points.
    const int rows = layer > 0 ? W : F;
    real* to = gradient + (layer > 0 ? AT_HIDDEN + (layer - 1) * W * W : -layer * F * W);
#pragma unroll 1
    for (int part = 0; part < (layer > 0 ? MT : FM); part += MC) {
#pragma unroll
      for (int m = 0; m < MC; ++m) {
        real below[S][4];
        if (layer > 0) {
          above(kept, layer - 1, start / 8, lane, part + m < MT ? part + m : 0, below);
        } else {
#pragma unroll
          for (int s = 0; s < S; ++s)
#pragma unroll
            for (int c = 0; c < 4; ++c)
              below[s][c] = feature(features[s], start + 2 * t + c % 2, 16 * (part + m) + 8 * (c / 2) + g);
        }
        real sums[NT][4];
#pragma unroll
        for (int j = 0; j < NT; ++j)
#pragma unroll
          for (int c = 0; c < 4; ++c) sums[j][c] = 0;
#pragma unroll
        for (int s = 0; s < S; ++s) {
          const Factor a[4] = {factor(below[s][0]), factor(below[s][2]), factor(below[s][1]), factor(below[s][3])};
#pragma unroll
          for (int j = 0; j < NT; ++j) {
            const Factor b[2] = {factor(inner[j / 2][s][2 * (j % 2)]), factor(inner[j / 2][s][2 * (j % 2) + 1])};
            multiply(sums[j], a, b);
          }
        }
#pragma unroll
        for (int j = 0; j < NT; ++j)
#pragma unroll
          for (int c = 0; c < 4; ++c) slot[((m * NT + j) * 4 + c) * 32 + lane] = sums[j][c];
      }
      __syncthreads();
      add_up(slots, to, rows, 16 * part);
      if (part == 0)
        for (int i = threadIdx.x; i < W; i += THREADS) {
          real sum = 0;
#pragma unroll
          for (int w = 0; w < WARPS; ++w) sum += vectors[w][i];
          gradient[AT_BIAS + place * W + i] = sum;
        }
      __syncthreads();
    }
  }
}
