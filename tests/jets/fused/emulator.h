// Runs CUDA kernels on the CPU: the threads of a block take turns, one block after the other.
#include <math.h>
#include <setjmp.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

#define EMULATED
#define __global__
#define __device__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(threads, blocks)
#define __shared__ static

struct uint4 { unsigned x, y, z, w; };
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct double2 { double x, y; };
struct Place { int x, y; };
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline double2 make_double2(double x, double y) { return {x, y}; }
static inline unsigned __float_as_uint(float x) { unsigned u; std::memcpy(&u, &x, 4); return u; }
static inline float __uint_as_float(unsigned u) { float x; std::memcpy(&x, &u, 4); return x; }
template <class T> static inline T __ldg(const T* p) { return *p; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }

static Place threadIdx, blockIdx, gridDim;
constexpr int MOST_THREADS = 1024, STACK = 1 << 18;
static double exchanged[MOST_THREADS / 32][32 + 128 + 64];
alignas(16) static char arena[1 << 20];

struct Barrier {
  int size, count = 0, generation = 0;
};
struct Thread {
  ucontext_t start;
  jmp_buf state;
  char* stack;
  bool begun, done;
  const Barrier* waiting;
  int since;
};
static jmp_buf scheduler;
static ucontext_t nowhere;
static Thread team[MOST_THREADS];
static Barrier whole, warps[MOST_THREADS / 32];
static const void* body;

// A thread that has to wait hands over to the next. Jumps are quicker than swapcontext, which asks the system.
static void wait_at(Barrier& barrier) {
  Thread& own = team[threadIdx.x];
  own.waiting = &barrier, own.since = barrier.generation;
  if (++barrier.count == barrier.size) barrier.count = 0, ++barrier.generation;
  else if (!_setjmp(own.state)) _longjmp(scheduler, 1);
}
static inline void __syncthreads() { wait_at(whole); }
static inline void __syncwarp() { wait_at(warps[threadIdx.x / 32]); }

template <class T> static inline T __shfl_xor_sync(unsigned, T x, int mask) {
  auto& all = exchanged[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  all[lane] = x;
  __syncwarp();
  const T other = all[lane ^ mask];
  __syncwarp();
  return other;
}

// The documented layout of mma.m16n8k8, the same in both precisions.
template <class T>
static inline void emulate_mma(T (&c)[4], T a0, T a1, T a2, T a3, T b0, T b1) {
  auto& all = exchanged[threadIdx.x / 32];
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  double *a = all + 32, *b = a + 128;
  a[g * 8 + t] = a0, a[(g + 8) * 8 + t] = a1;
  a[g * 8 + t + 4] = a2, a[(g + 8) * 8 + t + 4] = a3;
  b[t * 8 + g] = b0, b[(t + 4) * 8 + g] = b1;
  __syncwarp();
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 8; ++k) c[i] += T(a[(g + 8 * (i / 2)) * 8 + k]) * T(b[k * 8 + 2 * t + i % 2]);
  __syncwarp();
}

// Of factors in TF32 the unit ignores the last 13 bits.
static inline void emulate_mma(float (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                               unsigned b1) {
  auto cut = [](unsigned u) { return __uint_as_float(u & 0xffffe000u); };
  emulate_mma<float>(c, cut(a0), cut(a1), cut(a2), cut(a3), cut(b0), cut(b1));
}

template <class Kernel> static void begin_thread() {
  (*static_cast<const Kernel*>(body))();
  team[threadIdx.x].done = true;
  _longjmp(scheduler, 1);
}

// Goes on with a thread until it waits or ends.
static void resume(Thread& one) {
  if (_setjmp(scheduler)) return;
  if (one.begun) _longjmp(one.state, 1);
  one.begun = true;
  swapcontext(&nowhere, &one.start);
}

template <class Kernel> static void emulate(int blocks, int runs, int threads, const Kernel& kernel) {
  gridDim = {blocks, runs};
  body = &kernel;
  for (int i = 0; i < threads; ++i) team[i].stack = static_cast<char*>(std::malloc(STACK));
  for (int run = 0; run < runs; ++run)
    for (int block = 0; block < blocks; ++block) {
      blockIdx = {block, run};
      whole = {threads};
      for (int warp = 0; warp < threads / 32; ++warp) warps[warp] = {32};
      for (int i = 0; i < threads; ++i) {
        Thread& one = team[i];
        one.begun = one.done = false, one.waiting = nullptr;
        getcontext(&one.start);
        one.start.uc_stack.ss_sp = one.stack;
        one.start.uc_stack.ss_size = STACK;
        makecontext(&one.start, begin_thread<Kernel>, 0);
      }
      for (bool going = true; going;) {
        going = false;
        for (int i = 0; i < threads; ++i)
          if (!team[i].done) {
            going = true;
            if (team[i].waiting && team[i].waiting->generation == team[i].since) continue;
            threadIdx = {i, 0};
            resume(team[i]);
          }
      }
    }
  for (int i = 0; i < threads; ++i) std::free(team[i].stack);
}
