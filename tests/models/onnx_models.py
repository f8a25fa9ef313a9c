"""The ONNX models of `npm run models`: python onnx_models.py NAME OUT.onnx. Small, seeded, written for this project."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 19


class Graph:
    """Collects nodes and weights; every method returns the name of its result."""

    def __init__(self, seed=1):
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.random = np.random.default_rng(seed)

    def input(self, name, kind, shape):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name, kind, shape):
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def constant(self, value, dtype=np.int64):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weight(self, *shape, dtype=np.float16):
        scale = 1 / np.sqrt(shape[0])
        return self.constant(self.random.standard_normal(shape) * scale, dtype)

    def __getattr__(self, op):
        def node(*inputs, outputs=1, **attributes):
            names = [f"t{len(self.nodes)}_{i}" for i in range(outputs)]
            self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
            return names[0] if outputs == 1 else names

        return node

    def save(self, name, path):
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
        onnx.checker.check_model(model)
        onnx.save(model, path)


def multi_head():
    """Layer norm, four heads of self-attention, projection and residual, in f16."""
    g, tokens, width, heads = Graph(), 32, 64, 4
    x = g.input("x", TensorProto.FLOAT16, [1, tokens, width])
    gain, bias = g.constant(np.ones(width), np.float16), g.constant(np.zeros(width), np.float16)
    normed = g.LayerNormalization(x, gain, bias, axis=-1)
    split = g.constant([1, tokens, heads, width // heads])
    q, k, v = (
        g.Transpose(g.Reshape(g.MatMul(normed, g.weight(width, width)), split), perm=[0, 2, 1, 3]) for _ in range(3)
    )
    scores = g.Mul(g.MatMul(q, g.Transpose(k, perm=[0, 1, 3, 2])), g.constant((width // heads) ** -0.5, np.float16))
    mixed = g.MatMul(g.Softmax(scores, axis=-1), v)
    joined = g.Reshape(g.Transpose(mixed, perm=[0, 2, 1, 3]), g.constant([1, tokens, width]))
    y = g.Add(x, g.MatMul(joined, g.weight(width, width)))
    g.output(y, TensorProto.FLOAT16, [1, tokens, width])
    return g


def conv_net():
    """Two convolutions with ReLU and pooling, then a linear layer, in f32."""
    g = Graph()
    x = g.input("image", TensorProto.FLOAT, [1, 3, 16, 16])
    x = g.Relu(g.Conv(x, g.weight(8, 3, 3, 3, dtype=np.float32), g.weight(8, dtype=np.float32), pads=[1, 1, 1, 1]))
    x = g.MaxPool(x, kernel_shape=[2, 2], strides=[2, 2])
    x = g.Relu(g.Conv(x, g.weight(16, 8, 3, 3, dtype=np.float32), g.weight(16, dtype=np.float32), pads=[1, 1, 1, 1]))
    x = g.GlobalAveragePool(x)
    x = g.Gemm(g.Flatten(x), g.weight(16, 10, dtype=np.float32), g.weight(10, dtype=np.float32))
    g.output(x, TensorProto.FLOAT, [1, 10])
    return g


def llama():
    """One decoding step of a two-layer llama with a paged key-value cache: pages of 4 positions, 16 of them."""
    g, batch, width, heads, vocabulary, pages, slots, table = Graph(), 2, 32, 2, 64, 16, 4, 4
    head = width // heads
    half, length = np.float16, slots * table
    tokens = g.input("tokens", TensorProto.INT64, [batch, 1])
    positions = g.input("positions", TensorProto.INT64, [batch])
    page_table = g.input("pages", TensorProto.INT64, [batch, table])
    cache = g.input("cache", TensorProto.FLOAT16, [pages, 2, 2, slots, width])

    def norm(x):
        square = g.ReduceMean(g.Mul(x, x), g.constant([-1]), keepdims=1)
        return g.Div(x, g.Sqrt(g.Add(square, g.constant(1e-3, half))))

    # Where this step's key and value go, and which positions it may see.
    column = g.Unsqueeze(positions, g.constant([1]))
    page = g.GatherElements(page_table, g.Div(column, g.constant(slots)), axis=1)
    slot = g.Mod(column, g.constant(slots))
    seen = g.LessOrEqual(g.constant(np.arange(length)), column)
    mask = g.Where(seen, g.constant(0, half), g.constant(-1e4, half))
    mask = g.Reshape(mask, g.constant([batch, 1, 1, length]))
    angles = np.arange(length)[:, None] / 100.0 ** (np.arange(head // 2) / (head // 2))
    cosine = g.Reshape(g.Gather(g.constant(np.cos(angles), half), positions), g.constant([batch, 1, 1, head // 2]))
    sine = g.Reshape(g.Gather(g.constant(np.sin(angles), half), positions), g.constant([batch, 1, 1, head // 2]))

    def rotate(x):
        a, b = g.Split(x, outputs=2, axis=-1, num_outputs=2)
        left = g.Sub(g.Mul(a, cosine), g.Mul(b, sine))
        return g.Concat(left, g.Add(g.Mul(a, sine), g.Mul(b, cosine)), axis=-1)

    def heads_of(x):
        return g.Transpose(g.Reshape(x, g.constant([batch, 1, heads, head])), perm=[0, 2, 1, 3])

    x = g.Gather(g.weight(vocabulary, width), tokens)
    for layer in range(2):
        normed = norm(x)
        q = rotate(heads_of(g.MatMul(normed, g.weight(width, width))))
        k = rotate(heads_of(g.MatMul(normed, g.weight(width, width))))
        v = heads_of(g.MatMul(normed, g.weight(width, width)))
        for part, value in enumerate((k, v)):
            rows = g.Reshape(g.Transpose(value, perm=[0, 2, 1, 3]), g.constant([batch, width]))
            at = [g.constant(np.full((batch, 1), n)) for n in (layer, part)]
            cache = g.ScatterND(cache, g.Concat(page, *at, slot, axis=1), rows)
        blocks = g.Gather(cache, page_table)
        of_layer = g.Gather(blocks, g.constant(layer), axis=2)

        def past(part):
            rows = g.Reshape(g.Gather(of_layer, g.constant(part), axis=2), g.constant([batch, length, heads, head]))
            return g.Transpose(rows, perm=[0, 2, 1, 3])

        scores = g.MatMul(q, g.Transpose(past(0), perm=[0, 1, 3, 2]))
        weights = g.Softmax(g.Add(g.Mul(scores, g.constant(head**-0.5, half)), mask), axis=-1)
        mixed = g.Transpose(g.MatMul(weights, past(1)), perm=[0, 2, 1, 3])
        x = g.Add(x, g.MatMul(g.Reshape(mixed, g.constant([batch, 1, width])), g.weight(width, width)))
        normed = norm(x)
        gate = g.MatMul(normed, g.weight(width, 2 * width))
        up = g.MatMul(normed, g.weight(width, 2 * width))
        x = g.Add(x, g.MatMul(g.Mul(g.Mul(gate, g.Sigmoid(gate)), up), g.weight(2 * width, width)))
    logits = g.MatMul(norm(x), g.weight(width, vocabulary))
    g.output(logits, TensorProto.FLOAT16, [batch, 1, vocabulary])
    g.output(cache, TensorProto.FLOAT16, [pages, 2, 2, slots, width])
    return g


def outside():
    """Two linear layers whose weights live in a parameter archive."""
    g = Graph()
    x = g.input("x", TensorProto.FLOAT16, [32, 64])
    y = g.MatMul(g.Relu(g.MatMul(x, g.weight(64, 128))), g.weight(128, 64))
    g.output(y, TensorProto.FLOAT16, [32, 64])
    return g


def transposed_conv():
    """A transposed convolution with output padding, in f16."""
    g = Graph()
    x = g.input("x", TensorProto.FLOAT16, [1, 4, 7, 5])
    y = g.ConvTranspose(x, g.weight(4, 3, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    g.output(y, TensorProto.FLOAT16, [1, 3, 14, 10])
    return g


def top_k():
    """The five largest of each row with their places, and the place of the largest."""
    g = Graph()
    x = g.input("x", TensorProto.FLOAT, [4, 50])
    values, places = g.TopK(x, g.constant([5]), outputs=2, axis=1)
    largest = g.ArgMax(x, axis=1, keepdims=0)
    g.output(values, TensorProto.FLOAT, [4, 5])
    g.output(places, TensorProto.INT64, [4, 5])
    g.output(largest, TensorProto.INT64, [4])
    return g


def embedding():
    """Rows gathered from a table, one of each scattered over, and their norms."""
    g = Graph()
    ids = g.input("ids", TensorProto.INT32, [3, 9])
    rows = g.Gather(g.weight(20, 24, dtype=np.float32), ids)
    ones = g.constant(np.ones((3, 1, 24)), np.float32)
    changed = g.ScatterElements(rows, g.constant(np.zeros((3, 1, 24))), ones, axis=1)
    g.output(g.ReduceL2(changed, g.constant([2])), TensorProto.FLOAT, [3, 9, 1])
    return g


def lstm():
    """Three steps of a long short-term memory: a loop of the host program."""
    g = Graph()
    x = g.input("x", TensorProto.FLOAT, [3, 2, 8])
    gates, states = g.weight(1, 64, 8, dtype=np.float32), g.weight(1, 64, 16, dtype=np.float32)
    y, h, _ = g.LSTM(x, gates, states, outputs=3, hidden_size=16)
    g.output(y, TensorProto.FLOAT, [3, 1, 2, 16])
    g.output(h, TensorProto.FLOAT, [1, 2, 16])
    return g


def group_conv():
    """A grouped, dilated convolution with strides, and average pooling with padding, in f16."""
    g = Graph()
    x = g.input("x", TensorProto.FLOAT16, [2, 8, 9, 9])
    y = g.Conv(x, g.weight(16, 2, 3, 3), group=4, dilations=[2, 2], pads=[2, 2, 2, 2], strides=[2, 2])
    y = g.AveragePool(y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    g.output(y, TensorProto.FLOAT16, [2, 16, 3, 3])
    return g


def quantized():
    """An integer matmul of unsigned and signed bytes with a zero point."""
    g = Graph()
    x = g.input("x", TensorProto.UINT8, [16, 32])
    weights = g.constant(g.random.integers(-128, 128, (32, 24)), np.int8)
    g.output(g.MatMulInteger(x, weights, g.constant(3, np.uint8)), TensorProto.INT32, [16, 24])
    return g


def non_zero():
    """An output whose size depends on the data."""
    g = Graph()
    g.output(g.NonZero(g.input("x", TensorProto.FLOAT, [6, 6])), TensorProto.INT64, [2, "n"])
    return g


def dynamic_batch():
    """A linear layer and softmax over a batch of any size."""
    g = Graph()
    x = g.input("x", TensorProto.FLOAT, ["batch", 32])
    g.output(g.Softmax(g.MatMul(x, g.weight(32, 48, dtype=np.float32)), axis=-1), TensorProto.FLOAT, ["batch", 48])
    return g


MODELS = (
    multi_head,
    conv_net,
    llama,
    outside,
    transposed_conv,
    top_k,
    embedding,
    lstm,
    group_conv,
    quantized,
    non_zero,
    dynamic_batch,
)

if __name__ == "__main__":
    models = {f.__name__: f for f in MODELS}
    models[sys.argv[1]]().save(sys.argv[1], sys.argv[2])
