// The jet of a tanh (or sine) network at a tile of points: all layers forward, and all layers back.
//
// A warp takes 8 points with all their streams (value, derivatives) through the network in registers.
// What the matrix unit returns of one layer is, read in another order of neurons, what it takes for the
// next, so that nothing is exchanged between threads on the way forward; on the way back, where rows are
// neurons and columns points, the same holds for the gradients of the weights, and the chain to the layer
// below passes through shared memory once.

#define NT (W / 8)             // tiles of 8 neurons
#define MT (W / 16)            // tiles of 16 neurons

// What is kept lies as the way back reads it: 16 neurons of 8 points together, and of these the four numbers
// of a thread side by side (rows g and g + 8 of column 2t, then of column 2t + 1).
#define KEPT(layer, s, tile, i) (((((size_t)(layer) * S + (s)) * (PADDED / 8) + (tile)) * MT + (i)) * 128)
