// The jet of a network at points, on a CPU: the lanes of a vector are points, and a few vectors at a time go
// through all layers, so that what belongs to them stays in the cache.
//
// Set beforehand: real, DOUBLE (whether it is double), TILE (points at a time), S streams, W neurons (a
// multiple of 4), F features, D hidden layers, C outputs, MIXED (whether every layer mixes two encodings of the
// features, which are then kept behind the hidden layers, and whose weights come behind the first). The functions
// begin(z), outer(own, jet), pull(own, wanted, inner), mix and unmix, for vectors, stand where ARITHMETIC does.

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <sched.h>

#include "xla/ffi/api/c_api.h"  // the C++ interface takes a second to compile, these few lines none

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define KEEP(x) asm("" : "+v"(x))  // in a register, not read again from memory by every product
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#define KEEP(x) asm("" : "+x"(x))
#else
#define VECTOR_BYTES 16
#define KEEP(x)
#endif
#if defined(__AVX512F__) || defined(__aarch64__)
#define REGISTERS 32
#else
#define REGISTERS 16
#endif

typedef real V __attribute__((vector_size(VECTOR_BYTES)));
constexpr int LANES = VECTOR_BYTES / sizeof(real);
constexpr int GROUP = TILE / LANES;  // vectors whose weight gradients are added up at once

// Sums that are kept in registers: neurons at once in products, rows and columns at once in gradients.
constexpr int NB = 4 * S + S + 1 <= REGISTERS ? 4 : 2 * S + S + 1 <= REGISTERS ? 2 : 1;
constexpr int KB = REGISTERS == 32 ? 4 : 2;

constexpr int FIRSTS = MIXED ? 3 : 1, LAYERS = D - 1 + FIRSTS;  // those that read the features, and all
constexpr int AT_HIDDEN = FIRSTS * F * W, AT_BIAS = AT_HIDDEN + (D - 1) * W * W, AT_LAST = AT_BIAS + LAYERS * W;
constexpr int TOTAL = AT_LAST + C * W;

static inline V choose(decltype(V{} < V{}) condition, V yes, V no) { return condition ? yes : no; }
static inline V all(real x) { return V{} + x; }

// tanh, exact to a few units in the last place.
#if !DOUBLE
static inline V tanh(V x) {  // an odd over an even polynomial; beyond the bound it is one
  const V bound = all(7.90531110763549805f);
  x = choose(x > bound, bound, choose(x < -bound, -bound, x));
  const V q = x * x;
  const float up[] = {-2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                      1.48572235717979e-05f,  6.37261928875436e-04f, 4.89352455891786e-03f};
  const float low[] = {1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f};
  V above = all(up[0]), below = all(low[0]);
  for (int i = 1; i < 7; ++i) above = above * q + up[i];
  for (int i = 1; i < 4; ++i) below = below * q + low[i];
  return x * above / below;
}
#else
static inline V tanh(V x) {  // near zero a rational function, else by the exponential
  typedef int64_t I __attribute__((vector_size(VECTOR_BYTES)));
  const V size = choose(x < 0, -x, x), q = x * x;
  const V above = (q * -9.64399179425052238628e-1 - 9.92877231001918586564e1) * q - 1.61468768441708447952e3;
  const V below = ((q + 1.12811678491632931402e2) * q + 2.23548839060100448583e3) * q + 4.84406305325125486048e3;
  const V inside = x + x * q * above / below;
  const V twice = choose(size > 20, all(40), size + size);
  const V shift = all(6755399441055744.0);  // adding it rounds to a whole number
  const V whole = (twice * 1.4426950408889634074 + shift) - shift;
  const V r = (twice - whole * 6.93145751953125e-1) - whole * 1.42860682030941723212e-6, rr = r * r;
  const V p = ((rr * 1.26177193074810590878e-4 + 3.02994407707441961300e-2) * rr + 9.99999999999999999910e-1) * r;
  const V d = ((rr * 3.00198505138664455042e-6 + 2.52448340349684104192e-3) * rr + 2.27265548208155028766e-1) * rr + 2;
  const I power = (__builtin_convertvector(whole, I) + 1023) << 52;
  V scale;
  std::memcpy(&scale, &power, sizeof scale);
  const V outside = 1 - 2 / ((1 + 2 * p / (d - p)) * scale + 1);
  return choose(size < 0.625, inside, choose(x < 0, -outside, outside));
}
#endif

static inline V sin(V x) {
  for (int l = 0; l < LANES; ++l) x[l] = std::sin(x[l]);
  return x;
}
static inline V cos(V x) {
  for (int l = 0; l < LANES; ++l) x[l] = std::cos(x[l]);
  return x;
}

ARITHMETIC

// to[n] = Σ_k in[k] w[k][n], all streams.
template <int N>
static inline void apply(const V* __restrict in, const real* __restrict w, int rows, V* __restrict to) {
  for (int n = 0; n < N; n += NB) {
    V sum[NB][S] = {};
    for (int k = 0; k < rows; ++k) {
      const real* at = w + k * N + n;
      const V* from = in + k * S;
      V x[S];
#pragma GCC unroll 16
      for (int s = 0; s < S; ++s) {
        x[s] = from[s];
        KEEP(x[s]);
      }
#pragma GCC unroll 8
      for (int j = 0; j < NB; ++j)
#pragma GCC unroll 16
        for (int s = 0; s < S; ++s) sum[j][s] += x[s] * at[j];
    }
    for (int j = 0; j < NB; ++j)
      for (int s = 0; s < S; ++s) to[(n + j) * S + s] = sum[j][s];
  }
}

// sums[k][n] += Σ over vectors and streams of left[k] right[n], for KB rows k from `k` on.
template <int ROWS>
static inline void correlate_rows(const V* __restrict left, int rows, int k, const V* __restrict right,
                                  V* __restrict sums) {
  for (int n = 0; n < W; n += 4) {
    V sum[ROWS][4] = {};
    for (int p = 0; p < GROUP; ++p) {
      const V* a = left + (p * rows + k) * S;
      const V* b = right + (p * W + n) * S;
#pragma GCC unroll 16
      for (int s = 0; s < S; ++s) {
        V x[ROWS];
#pragma GCC unroll 4
        for (int i = 0; i < ROWS; ++i) {
          x[i] = a[i * S + s];
          KEEP(x[i]);
        }
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
          V y = b[j * S + s];
          KEEP(y);
#pragma GCC unroll 4
          for (int i = 0; i < ROWS; ++i) sum[i][j] += x[i] * y;
        }
      }
    }
    for (int i = 0; i < ROWS; ++i)
      for (int j = 0; j < 4; ++j) sums[(k + i) * W + n + j] += sum[i][j];
  }
}

static inline void correlate(const V* left, int rows, const V* right, V* sums) {
  int k = 0;
  for (; k + KB <= rows; k += KB) correlate_rows<KB>(left, rows, k, right, sums);
  for (; k < rows; ++k) correlate_rows<1>(left, rows, k, right, sums);
}

static inline real total(V v) {
  real sum = 0;
  for (int l = 0; l < LANES; ++l) sum += v[l];
  return sum;
}

// Features of a vector of points: to[k][s].
static inline void gather(const real* const* features, long first, long points, V* to) {
  for (int s = 0; s < S; ++s)
    for (int l = 0; l < LANES; ++l) {
      real* at = reinterpret_cast<real*>(to + s) + l;
      if (first + l < points) {
        const real* from = features[s] + (first + l) * F;
        for (int k = 0; k < F; ++k) at[(long)k * S * LANES] = from[k];
      } else {
        for (int k = 0; k < F; ++k) at[(long)k * S * LANES] = 0;
      }
    }
}

static void fill(real* from, const real* to, real value) {
  while (from < to) *from++ = value;
}

// Aligned memory for vectors.
struct Space {
  V* at;
  explicit Space(size_t count) : at(static_cast<V*>(std::aligned_alloc(64, (count * sizeof(V) + 63) / 64 * 64))) {}
  ~Space() { std::free(at); }
  Space(const Space&) = delete;
};

struct Weights { const real *first, *hidden, *bias, *last; };

// Whether a network is not a number, and so is all that comes of it. Among networks that train together those
// that have nothing left to do are made so, and cost nothing.
static inline bool lost(Weights w) { return *w.last != *w.last; }

// Copies of the streams of one neuron, there and back.
static inline void get(const V* from, V (&to)[S]) {
  for (int s = 0; s < S; ++s) to[s] = from[s];
}
static inline void put(const V (&from)[S], V* to) {
  for (int s = 0; s < S; ++s) to[s] = from[s];
}

// What comes out of a layer at a vector of points, of all whose layers `kept` is; at one neuron.
static inline void above(const V* kept, int layer, int n, V (&jet)[S]) {
  V own[S];
  get(kept + (layer * W + n) * S, own);
#if MIXED
  V one[S], two[S], a[S], b[S], after[S];
  get(kept + (D * W + n) * S, one), get(kept + ((D + 1) * W + n) * S, two);
  outer(one, a), outer(two, b), outer(own, after);
  mix(a, b, after, jet);
#else
  outer(own, jet);
#endif
}

static void forward(const real* const* features, Weights w, long points, long from, long to, long padded, real* out,
                    V* kept) {
  constexpr int wide = F > W ? F : W;
  if (lost(w)) {
    for (int i = 0; i < S * C; ++i) fill(out + i * padded + from * LANES, out + i * padded + to * LANES, *w.last);
    return;
  }
  Space space((wide + W) * S);
  V *jet = space.at, *z = jet + wide * S;
  for (long p = from; p < to; ++p) {
    V* own = kept + p * LAYERS * W * S;
    const auto start = [&](int layer) {
      for (int n = 0; n < W; ++n) {
        V before[S];
        get(z + n * S, before);
        before[0] = begin(before[0] + w.bias[layer * W + n]);
        put(before, own + (layer * W + n) * S);
      }
    };
    gather(features, p * LANES, points, jet);
    for (int n = 1; n < FIRSTS; ++n) apply<W>(jet, w.first + n * F * W, F, z), start(D - 1 + n);
    for (int layer = 0; layer < D; ++layer) {
      if (layer == 0) apply<W>(jet, w.first, F, z);
      else apply<W>(jet, w.hidden + (layer - 1) * W * W, W, z);
      start(layer);
      for (int n = 0; n < W; ++n) {
        V after[S];
        above(own, layer, n, after);
        put(after, jet + n * S);
      }
    }
    for (int c = 0; c < C; ++c)
      for (int s = 0; s < S; ++s) {
        V sum = {};
        for (int n = 0; n < W; ++n) sum += jet[n * S + s] * w.last[c * W + n];
        *reinterpret_cast<V*>(out + ((long)s * C + c) * padded + p * LANES) = sum;
      }
  }
}

static void backward(const real* const* features, Weights w, long points, long from, long to, long padded,
                     const V* kept, const real* cotangent, real* gradient) {
  constexpr int wide = F > W ? F : W;
  if (lost(w)) {
    fill(gradient, gradient + TOTAL, *w.last);
    return;
  }
  constexpr int encodings = MIXED ? 2 * GROUP * W * S : 0;
  Space space(TOTAL + GROUP * (2 * W + wide) * S + encodings + D * W * W / LANES + 1);
  V *sums = space.at, *inner = sums + TOTAL, *wanted = inner + GROUP * W * S, *below = wanted + GROUP * W * S;
  V* of_encodings = below + GROUP * wide * S;  // their cotangents, over all layers
  real* turned = reinterpret_cast<real*>(of_encodings + encodings);
  std::memset(sums, 0, sizeof(V) * TOTAL);
  for (int layer = 0; layer < D - 1; ++layer)
    for (int k = 0; k < W; ++k)
      for (int n = 0; n < W; ++n) turned[(layer * W + n) * W + k] = w.hidden[(layer * W + k) * W + n];
  for (long p0 = from; p0 < to; p0 += GROUP) {
    std::memset(of_encodings, 0, sizeof(V) * encodings);
    for (int p = 0; p < GROUP; ++p) {
      const V* own = kept + (p0 + p) * LAYERS * W * S;
      V given[C][S];
      for (int c = 0; c < C; ++c)
        for (int s = 0; s < S; ++s)
          given[c][s] = *reinterpret_cast<const V*>(cotangent + ((long)s * C + c) * padded + (p0 + p) * LANES);
      for (int n = 0; n < W; ++n) {
        V after[S];
        above(own, D - 1, n, after);
        V back[S] = {};
        for (int c = 0; c < C; ++c) {
          V sum = {};
          for (int s = 0; s < S; ++s) sum += given[c][s] * after[s], back[s] += given[c][s] * w.last[c * W + n];
          sums[AT_LAST + c * W + n] += sum;
        }
        put(back, wanted + (p * W + n) * S);
      }
    }
    // Layers 0, −1 and −2 read the features: the first, and those that encode.
    for (int layer = D - 1; layer > -FIRSTS; --layer) {
      const int place = layer < 0 ? D - 1 - layer : layer;
      if (layer < 0) wanted = of_encodings + (-1 - layer) * GROUP * W * S;
      for (int p = 0; p < GROUP; ++p) {
        const V* own = kept + (p0 + p) * LAYERS * W * S;
        for (int n = 0; n < W; ++n) {
          V before[S], after[S], result[S];
          get(own + (place * W + n) * S, before), get(wanted + (p * W + n) * S, after);
#if MIXED
          if (layer >= 0) {
            V one[S], two[S], a[S], b[S], jet[S], of_a[S], of_b[S], of_jet[S];
            get(own + (D * W + n) * S, one), get(own + ((D + 1) * W + n) * S, two);
            outer(one, a), outer(two, b), outer(before, jet);
            unmix(a, b, jet, after, of_a, of_b, of_jet);
            V* to = of_encodings + (p * W + n) * S;
            for (int s = 0; s < S; ++s) {
              to[s] += of_a[s], to[GROUP * W * S + s] += of_b[s];
              after[s] = of_jet[s];
            }
          }
#endif
          pull(before, after, result);
          put(result, inner + (p * W + n) * S);
          sums[AT_BIAS + place * W + n] += result[0];
        }
        if (layer > 0) {
          apply<W>(inner + p * W * S, turned + (layer - 1) * W * W, W, wanted + p * W * S);
          for (int n = 0; n < W; ++n) {
            V after[S];
            above(own, layer - 1, n, after);
            put(after, below + (p * W + n) * S);
          }
        } else {
          gather(features, (p0 + p) * LANES, points, below + p * F * S);
        }
      }
      if (layer > 0) correlate(below, W, inner, sums + AT_HIDDEN + (layer - 1) * W * W);
      else correlate(below, F, inner, sums - layer * F * W);
    }
    wanted = inner + GROUP * W * S;
  }
  for (int i = 0; i < TOTAL; ++i) gradient[i] = total(sums[i]);
}

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// What XLA hands over with a call.
struct Call {
  XLA_FFI_CallFrame* frame;

  const XLA_FFI_Buffer& given(int64_t i) const { return *static_cast<XLA_FFI_Buffer*>(frame->args.args[i]); }
  const XLA_FFI_Buffer& wanted(int64_t i) const { return *static_cast<XLA_FFI_Buffer*>(frame->rets.rets[i]); }
  real* data(int64_t i) const { return static_cast<real*>(given(i).data); }

  // Threads of XLA's pool; one where there is none.
  int64_t threads() const {
    int64_t count = 1;
    XLA_FFI_ThreadPool_NumThreads_Args asked = {XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE, nullptr, frame->ctx,
                                                &count};
    return succeeds(frame->api->XLA_FFI_ThreadPool_NumThreads(&asked)) ? count : 1;
  }
  bool schedule(XLA_FFI_Task* task, void* data) const {
    XLA_FFI_ThreadPool_Schedule_Args asked = {XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE, nullptr, frame->ctx, task,
                                              data};
    return succeeds(frame->api->XLA_FFI_ThreadPool_Schedule(&asked));
  }

 private:
  bool succeeds(XLA_FFI_Error* error) const {
    if (!error) return true;
    XLA_FFI_Error_Destroy_Args done = {XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, nullptr, error};
    frame->api->XLA_FFI_Error_Destroy(&done);
    return false;
  }
};

// Tasks 0, 1, … of a call. A thread may come when all is done and the call over, so the last one clears up.
struct Work {
  const int64_t count;
  const void* const task;
  void (*const run)(const void* task, int64_t i);
  std::atomic<int64_t> next{0}, done{0}, holders{1};

  void help() {
    for (int64_t i; (i = next++) < count; ++done) run(task, i);
  }
  void leave() {
    if (--holders == 0) delete this;
  }
};

static void help_out(void* data) {
  static_cast<Work*>(data)->help();
  static_cast<Work*>(data)->leave();
}

// Runs task(0), task(1), … on the caller's thread and on as many of the pool as are free.
template <class Task>
static void share_out(const Call& call, int64_t count, const Task& task) {
  auto run = [](const void* own, int64_t i) { (*static_cast<const Task*>(own))(i); };
  Work* work = new Work{count, &task, run};
  for (int64_t helpers = least(call.threads(), count) - 1; helpers > 0; --helpers) {
    ++work->holders;
    if (!call.schedule(help_out, work)) work->leave();
  }
  work->help();
  while (work->done < count) sched_yield();
  work->leave();
}

struct Shape {
  int64_t runs, own, points, padded;
  Shape(const XLA_FFI_Buffer& features, const XLA_FFI_Buffer& across, int64_t plain_rank) {
    own = features.rank == 3;  // whether each run has its own features
    points = features.dims[features.rank - 2];
    runs = across.rank > plain_rank ? across.dims[0] : 1;
    padded = across.dims[across.rank - 1];
  }
};

struct Features {
  const real* at[S];
  Features(const Call& call, const Shape& shape, int64_t run) {
    for (int s = 0; s < S; ++s) at[s] = call.data(s) + (shape.own ? run * shape.points * F : 0);
  }
};

static void forward_call(const Call& call) {
  real* out = static_cast<real*>(call.wanted(0).data);
  real* kept = static_cast<real*>(call.wanted(1).data);
  const Shape shape(call.given(0), call.wanted(0), 3);
  const int64_t groups = shape.padded / TILE, parts = least(groups, 4 * call.threads());
  share_out(call, shape.runs * parts, [&](int64_t i) {
    const int64_t run = i / parts, part = i % parts;
    const Features features(call, shape, run);
    const Weights weights{call.data(S) + run * FIRSTS * F * W, call.data(S + 1) + run * (D - 1) * W * W,
                          call.data(S + 2) + run * LAYERS * W, call.data(S + 3) + run * C * W};
    forward(features.at, weights, shape.points, groups * part / parts * GROUP, groups * (part + 1) / parts * GROUP,
            shape.padded, out + run * S * C * shape.padded,
            reinterpret_cast<V*>(kept + run * LAYERS * S * W * shape.padded));
  });
}

static void backward_call(const Call& call) {
  const XLA_FFI_Buffer& gradient = call.wanted(0);
  const Shape shape(call.given(0), call.given(S + 3), 3);
  const int64_t groups = shape.padded / TILE, parts = gradient.dims[gradient.rank - 2];
  share_out(call, shape.runs * parts, [&](int64_t i) {
    const int64_t run = i / parts, part = i % parts;
    const Features features(call, shape, run);
    const Weights weights{nullptr, call.data(S) + run * (D - 1) * W * W, nullptr, call.data(S + 1) + run * C * W};
    backward(features.at, weights, shape.points, groups * part / parts * GROUP, groups * (part + 1) / parts * GROUP,
             shape.padded, reinterpret_cast<const V*>(call.data(S + 2) + run * LAYERS * S * W * shape.padded),
             call.data(S + 3) + run * S * C * shape.padded, static_cast<real*>(gradient.data) + i * TOTAL);
  });
}

// Older interfaces do not ask for the type of a state.
template <class Metadata>
static auto without_state(Metadata& told, int) -> decltype(told.state_type_id, void()) {
  told.state_type_id = XLA_FFI_TypeId{0};
}
template <class Metadata>
static void without_state(Metadata&, long) {}

// Before a kernel is called for the first time XLA asks for which version of its interface it was made.
static XLA_FFI_Error* answer(XLA_FFI_CallFrame* frame, void (*compute)(const Call&)) {
  XLA_FFI_Extension_Base* asked = frame->extension_start;
  if (asked && asked->type == XLA_FFI_Extension_Metadata) {
    XLA_FFI_Metadata& told = *reinterpret_cast<XLA_FFI_Metadata_Extension*>(asked)->metadata;
    told.api_version = {XLA_FFI_Api_Version_STRUCT_SIZE, nullptr, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR};
    told.traits = 0;
    without_state(told, 0);
  } else {
    compute(Call{frame});
  }
  return nullptr;
}

extern "C" XLA_FFI_Error* hcpinn_forward(XLA_FFI_CallFrame* frame) { return answer(frame, forward_call); }
extern "C" XLA_FFI_Error* hcpinn_backward(XLA_FFI_CallFrame* frame) { return answer(frame, backward_call); }
