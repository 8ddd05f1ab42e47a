"""Makes the tiny exports of this folder: models of random weights, exported by the public exporters, beside what transformers writes with them.

usage: make.py NAME…    (NAME is a function of this file that has `@export`; needs torch, transformers 4.57, optimum-onnx 0.1 and
onnxruntime-genai 0.18, whose builder wants transformers 5: the environment variable TRANSFORMERS5 names a folder that has it. With that it
builds no Gemma 3, whose positions transformers 5 keeps layer by layer: GENAI11 names a folder with onnxruntime-genai 0.11)

Each folder is a model directory as its exporter leaves it, and `expected.json`: twenty prompts, and the sixty-four tokens that
transformers' own model writes after each when it takes the likeliest. A seed counts only when no likeliest token was near to the second.
"""
import json, os, shutil, subprocess, sys, tempfile
from pathlib import Path

import onnx
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

here = Path(__file__).parent
torch.set_num_threads(1)
exports = {}
width, context, count = 264, 512, 64
names = ["<|user|>", "<|assistant|>", "<|end|>"]
end = 258
# What a text holds is bytes and its end.
never = [256, 257, *range(259, width)]
template = (
    "{% for message in messages %}{{ '<|' + message.role + '|>' + message.content + '<|end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
shared = dict(vocab_size=width, max_position_embeddings=context, bos_token_id=None, eos_token_id=end, pad_token_id=end, tie_word_embeddings=False)


def export(make):
    exports[make.__name__] = make
    return make


def tokenizer():
    """Every byte is a token."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={piece: id for id, piece in enumerate(alphabet)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(names)
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|end|>", extra_special_tokens={"user": names[0], "assistant": names[1]}, chat_template=template)
    return fast


def fill(model, seed):
    """Weights that say something of the whole text: neither the last token nor a loop."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weights in sorted(model.named_parameters()):
            noise = torch.randn(weights.shape, generator=generator)
            if weights.dim() == 1:
                weights.add_(0.1 * noise)
            elif "embed" in name:
                weights.copy_(noise)
            else:
                weights.copy_(noise * 1.5 / weights[0].numel() ** 0.5)
    return model.eval()


def prompts():
    generator = torch.Generator().manual_seed(1)
    lengths = [3 + (7 * i * i) % 190 for i in range(20)]
    return [torch.randint(0, 256, (length,), generator=generator).tolist() for length in lengths]


clear = 5e-5


def greedy(model):
    """The likeliest tokens, and how far they were from the second; ends where that is not clear."""
    answers, least = [], float("inf")
    model.generation_config.eos_token_id = None
    for ids in prompts():
        out = model.generate(
            torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.int64), max_new_tokens=count, do_sample=False,
            pad_token_id=0, suppress_tokens=never, output_scores=True, return_dict_in_generate=True,
        )
        answers.append(out.sequences[0, len(ids):].tolist())
        if least < clear:
            break
        for logits in out.scores:
            first, second = logits[0].topk(2).values.tolist()
            least = min(least, (first - second) / logits[logits.isfinite()].abs().max().item())
    return answers, least


def weights_of(make, folder):
    """Saves the first model that `make` gives whose answers are clear, and returns it with them."""
    for seed in range(40):
        torch.manual_seed(0)
        model = fill(make(), seed)
        answers, least = greedy(model)
        if least < clear:
            continue
        variety = len({tuple(answer[-8:]) for answer in answers}), len({id for answer in answers for id in answer})
        print(f"seed {seed}: {variety}", flush=True)
        if variety[0] >= 12 and variety[1] >= 30:
            break
    else:
        raise SystemExit("no seed of forty is clear")
    print(f"seed {seed}: the closest two tokens are {least:.1e} of the largest logit apart, {variety[1]} tokens in all")
    model.generation_config.eos_token_id = end
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return model, answers


def finish(target, answers):
    if answers is not None:
        (target / "expected.json").write_text(json.dumps({"prompts": prompts(), "answers": answers}))
    for extra in ("special_tokens_map.json", "chat_template.jinja", "preprocessor_config.json", "processor_config.json"):
        if extra != "chat_template.jinja":
            (target / extra).unlink(missing_ok=True)
    print(f"{target.name}: {sum(file.stat().st_size for file in target.rglob('*') if file.is_file()) / 1e3:.0f} kB")


def empty(name):
    target = here / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    return target


def build(source, target, precision="fp32", libraries="TRANSFORMERS5", **options):
    """onnxruntime-genai's model builder, with the libraries of an environment variable."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", str(source), "-o", str(target), "-p", precision, "-e", "cpu", "-c", cache]
        if options:
            command += ["--extra_options", *[f"{key}={value}" for key, value in options.items()]]
        path = os.pathsep.join(filter(None, [os.environ.get(libraries), os.environ.get("PYTHONPATH")]))
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": path})


def merge_data(path):
    """Weights of this size need no file beside the graph, and nobody reads the names of its nodes."""
    model = onnx.load(path)
    for file in path.parent.glob(path.name + "[._]data*"):
        file.unlink()
    model.graph.ClearField("value_info")
    for node in model.graph.node:
        for field in ("name", "doc_string", "metadata_props"):
            node.ClearField(field)
    onnx.save(model, path)
    return model


@export
def lfm2_genai():
    """Convolutions between attention, by onnxruntime-genai's builder: `past.<i>.conv`. optimum-onnx 0.1 has no LFM2."""
    from transformers import Lfm2Config, Lfm2ForCausalLM

    target = empty("lfm2_genai")
    with tempfile.TemporaryDirectory() as source:
        config = Lfm2Config(
            hidden_size=32, intermediate_size=48, block_auto_adjust_ff_dim=False, num_hidden_layers=4, num_attention_heads=2, num_key_value_heads=1,
            layer_types=["conv", "conv", "full_attention", "conv"], conv_L_cache=3, tie_embedding=False, **shared,
        )
        _, answers = weights_of(lambda: Lfm2ForCausalLM(config), source)
        build(source, target)
    merge_data(target / "model.onnx")
    finish(target, answers)


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(LlamaConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, **shared))


def scatter_data(path):
    """Weights in two files beside the graph, as large exports have them: `model.onnx_data`, `model.onnx_data_1`."""
    from onnx.external_data_helper import set_external_data, write_external_data_tensors

    model = onnx.load(path)
    large = [tensor for tensor in model.graph.initializer if len(tensor.raw_data) > 1000]
    for at, tensor in enumerate(large):
        set_external_data(tensor, path.name + ("_data" if at < len(large) / 2 else "_data_1"))
    onnx.save(write_external_data_tensors(model, str(path.parent)), path)
    for file in path.parent.iterdir():
        file.chmod(0o644)


@export
def llama_dtypes():
    """A decoder of the usual kind by optimum, in all types of weights that onnxruntime's tools make of it; the whole one has two files of data."""
    from onnxruntime.quantization import quantize_dynamic
    from onnxruntime.quantization.matmul_bnb4_quantizer import MatMulBnb4Quantizer
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
    from onnxruntime.transformers.float16 import convert_float_to_float16

    target = empty("llama_dtypes")
    with tempfile.TemporaryDirectory() as source:
        _, answers = weights_of(llama, source)
        by_optimum(source, target)
    path = target / "onnx/model.onnx"
    model = merge_data(path)
    onnx.save(convert_float_to_float16(onnx.load(path)), target / "onnx/model_fp16.onnx")
    quantize_dynamic(path, target / "onnx/model_int8.onnx")
    four = MatMulNBitsQuantizer(onnx.load(path), block_size=32, is_symmetric=True)
    four.process()
    onnx.save(four.model.model, target / "onnx/model_q4.onnx")
    bnb = MatMulBnb4Quantizer(onnx.load(path), MatMulBnb4Quantizer.NF4, 32)
    bnb.process()
    onnx.save(bnb.model.model, target / "onnx/model_bnb4.onnx")
    scatter_data(path)
    finish(target, answers)


@export
def llama_genai_q4():
    """The same by onnxruntime-genai's builder, in four bits with GroupQueryAttention. What it writes of them is not what transformers writes of the whole."""
    target = empty("llama_genai_q4")
    with tempfile.TemporaryDirectory() as source:
        weights_of(llama, source)
        build(source, target, "int4", int4_block_size=32)
    merge_data(target / "model.onnx")
    finish(target, None)


def gemma3(layers=["sliding_attention", "sliding_attention", "full_attention"]):
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    # A window that half of the prompts go beyond, and that no trial of a few tokens in 64 places finds out about.
    return Gemma3ForCausalLM(Gemma3TextConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=len(layers), num_attention_heads=2, num_key_value_heads=1, head_dim=16,
        sliding_window=72, layer_types=layers, query_pre_attn_scalar=16, **shared,
    ))


def by_optimum(source, target, **options):
    from optimum.exporters.onnx import main_export

    with tempfile.TemporaryDirectory() as made:
        main_export(str(source), made, do_validation=False, device="cpu", **{"task": "text-generation-with-past", **options})
        (target / "onnx").mkdir()
        for file in Path(made).iterdir():
            shutil.copy(file, target / "onnx" / file.name if ".onnx" in file.name else target / file.name)


@export
def gemma3_optimum():
    """A sliding window in two of three layers, by optimum: it counts positions by the places of the past, and so takes one row at a time."""
    target = empty("gemma3_optimum")
    with tempfile.TemporaryDirectory() as source:
        _, answers = weights_of(gemma3, source)
        by_optimum(source, target)
    merge_data(target / "onnx/model.onnx")
    finish(target, answers)


@export
def gemma3_positions():
    """The same with `position_ids`, as the exports for transformers.js have them."""
    from optimum.exporters.onnx.model_configs import Gemma3TextOnnxConfig
    from transformers import AutoConfig

    class WithPositions(Gemma3TextOnnxConfig):
        @property
        def inputs(self):
            return {**super().inputs, "position_ids": {0: "batch_size", 1: "sequence_length"}}

    target = empty("gemma3_positions")
    with tempfile.TemporaryDirectory() as source:
        _, answers = weights_of(gemma3, source)
        config = WithPositions(AutoConfig.from_pretrained(source), task="text-generation", use_past=True, use_past_in_inputs=True)
        by_optimum(source, target, custom_onnx_configs={"model": config})
    merge_data(target / "onnx/model.onnx")
    finish(target, answers)


@export
def gemma3_genai():
    """By onnxruntime-genai's builder: GroupQueryAttention with local windows, in all layers but each sixth whatever the configuration says."""
    target = empty("gemma3_genai")
    with tempfile.TemporaryDirectory() as source:
        _, answers = weights_of(lambda: gemma3(5 * ["sliding_attention"] + ["full_attention"]), source)
        build(source, target, libraries="GENAI11")
    merge_data(target / "model.onnx")
    finish(target, answers)


def split(source, target, model):
    """The layout that transformers.js reads models in that see: a graph for the embeddings of tokens beside the decoder, here by onnxruntime-genai's builder."""
    with tempfile.TemporaryDirectory() as made:
        build(source, made, exclude_embeds="true")
        (target / "onnx").mkdir()
        graph = onnx.load(Path(made) / "model.onnx")
    names = {}
    for value in [*graph.graph.input, *graph.graph.output]:
        # The builder's `past.3.conv` is `past_conv.3` there.
        parts = value.name.split(".")
        if len(parts) == 3 and parts[2] in ("conv", "recurrent"):
            names[value.name] = f"{parts[0]}_{parts[2]}.{parts[1]}"
            value.name = names[value.name]
    for node in graph.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    onnx.save(graph, target / "onnx/decoder_model_merged.onnx")
    merge_data(target / "onnx/decoder_model_merged.onnx")
    torch.onnx.export(
        model.get_input_embeddings(), (torch.zeros(1, 2, dtype=torch.int64),), target / "onnx/embed_tokens.onnx", dynamo=False,
        input_names=["input_ids"], output_names=["inputs_embeds"],
        dynamic_axes={"input_ids": {0: "batch_size", 1: "sequence_length"}, "inputs_embeds": {0: "batch_size", 1: "sequence_length"}},
    )
    for file in Path(source).iterdir():
        if file.suffix in (".json", ".jinja"):
            shutil.copy(file, target)


def needs5(make):
    """Runs in a process with transformers 5."""
    def run():
        if transformers.__version__.startswith("5."):
            return make()
        path = os.pathsep.join(filter(None, [os.environ.get("TRANSFORMERS5"), os.environ.get("PYTHONPATH")]))
        subprocess.run([sys.executable, __file__, make.__name__], check=True, env={**os.environ, "PYTHONPATH": path})

    run.__name__ = make.__name__
    return run


@export
@needs5
def qwen2_5_vl():
    """The decoder of a model that sees: `inputs_embeds`, and positions in three directions."""
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    target = empty("qwen2_5_vl")
    with tempfile.TemporaryDirectory() as source:
        text = dict(
            hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
            rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]}, **shared,
        )
        vision = dict(depth=1, hidden_size=16, intermediate_size=16, num_heads=1, out_hidden_size=32, fullatt_block_indexes=[0])
        config = Qwen2_5_VLConfig(text_config=text, vision_config=vision, tie_word_embeddings=False)
        model, answers = weights_of(lambda: Qwen2_5_VLForConditionalGeneration(config), source)
        split(source, target, model)
    finish(target, answers)


@export
@needs5
def qwen3_5():
    """Linear attention with recurrent states and convolutions between full attention, behind `inputs_embeds`."""
    from transformers import Qwen3_5Config, Qwen3_5ForConditionalGeneration

    target = empty("qwen3_5")
    with tempfile.TemporaryDirectory() as source:
        text = dict(
            hidden_size=32, intermediate_size=48, num_hidden_layers=4, num_attention_heads=2, num_key_value_heads=1, head_dim=16,
            linear_key_head_dim=16, linear_value_head_dim=16, linear_num_key_heads=1, linear_num_value_heads=2, linear_conv_kernel_dim=4,
            layer_types=["linear_attention", "linear_attention", "full_attention", "linear_attention"],
            rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1], "mrope_interleaved": True, "partial_rotary_factor": 0.5},
            **shared,
        )
        vision = dict(depth=1, hidden_size=16, intermediate_size=16, num_heads=1, out_hidden_size=32, num_position_embeddings=16)
        config = Qwen3_5Config(text_config=text, vision_config=vision, tie_word_embeddings=False)
        model, answers = weights_of(lambda: Qwen3_5ForConditionalGeneration(config), source)
        split(source, target, model)
    finish(target, answers)


@export
def gpt2_merged():
    """The older layout of optimum: a graph without a past and one with it, merged behind `use_cache_branch`. Its main_export makes it no more."""
    from optimum.exporters.onnx import export as export_graph
    from optimum.exporters.onnx.model_configs import GPT2OnnxConfig
    from optimum.onnx import merge_decoders
    from transformers import GPT2Config, GPT2LMHeadModel

    target = empty("gpt2_merged")
    (target / "onnx").mkdir()
    with tempfile.TemporaryDirectory() as source, tempfile.TemporaryDirectory() as made:
        sizes = {**shared, "n_positions": shared["max_position_embeddings"]}
        config = GPT2Config(n_embd=32, n_inner=48, n_layer=2, n_head=2, attn_pdrop=0, embd_pdrop=0, resid_pdrop=0, **sizes)
        model, answers = weights_of(lambda: GPT2LMHeadModel(config), source)
        graphs = {"decoder_model.onnx": False, "decoder_with_past_model.onnx": True}
        for name, has_past in graphs.items():
            export_graph(model, GPT2OnnxConfig(config, task="text-generation", use_past=True, use_past_in_inputs=has_past), Path(made) / name, device="cpu")
        merge_decoders(*(str(Path(made) / name) for name in graphs), save_path=str(target / "onnx/decoder_model_merged.onnx"), strict=False)
        for file in Path(source).iterdir():
            if file.suffix in (".json", ".jinja"):
                shutil.copy(file, target)
    merge_data(target / "onnx/decoder_model_merged.onnx")
    finish(target, answers)


@export
def lfm2_merged():
    """
    LFM2 in the older layout, with the names of transformers.js (`past_conv.<i>`): transformers' own model by torch, its branch for the beginning of a
    text, which takes several tokens, and the one behind a past, which takes one, merged by optimum.
    """
    from optimum.exporters.onnx.model_patcher import eager_mask_without_vmap
    from optimum.onnx import merge_decoders
    from transformers import Lfm2Config, Lfm2ForCausalLM
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    from transformers.models.lfm2.modeling_lfm2 import Lfm2HybridConvCache

    kinds = ["conv", "full_attention", "conv"]
    config = Lfm2Config(
        hidden_size=32, intermediate_size=48, block_auto_adjust_ff_dim=False, num_hidden_layers=3, num_attention_heads=2, num_key_value_heads=1,
        layer_types=kinds, conv_L_cache=3, tie_embedding=False, attn_implementation="eager", **shared,
    )

    class Part(torch.nn.Module):
        def __init__(self, model, has_past):
            super().__init__()
            self.model, self.has_past = model, has_past

        def forward(self, input_ids, attention_mask, position_ids, *pasts):
            cache = Lfm2HybridConvCache(config, 1)
            rows = input_ids.shape[0]
            cache.conv_cache = [torch.zeros(rows, 32, 3) for _ in kinds]
            past_length = 0
            if self.has_past:
                pasts = [past.clone() for past in pasts]
                none = torch.tensor([])
                cache.conv_cache = [pasts[0], none, pasts[3]]
                cache.key_cache, cache.value_cache = [none, pasts[1], none], [none, pasts[2], none]
                past_length = pasts[1].shape[2]
            places = torch.arange(past_length, past_length + input_ids.shape[1])
            logits = self.model(input_ids, attention_mask=attention_mask, position_ids=position_ids, past_key_values=cache, cache_position=places, use_cache=True).logits
            return logits, cache.conv_cache[0], cache.key_cache[1], cache.value_cache[1], cache.conv_cache[2]

    target = empty("lfm2_merged")
    (target / "onnx").mkdir()
    pasts = ["past_conv.0", "past_key_values.1.key", "past_key_values.1.value", "past_conv.2"]
    presents = ["present_conv.0", "present.1.key", "present.1.value", "present_conv.2"]
    axes = {"input_ids": {0: "batch_size", 1: "sequence_length"}, "attention_mask": {0: "batch_size", 1: "total_length"}, "position_ids": {0: "batch_size", 1: "sequence_length"}}
    axes["logits"] = axes["input_ids"]
    for past, present in zip(pasts, presents):
        axes[past] = {0: "batch_size"} if "conv" in past else {0: "batch_size", 2: "past_length"}
        axes[present] = {0: "batch_size"} if "conv" in past else {0: "batch_size", 2: "total_length"}
    with tempfile.TemporaryDirectory() as source, tempfile.TemporaryDirectory() as made:
        model, answers = weights_of(lambda: Lfm2ForCausalLM(config), source)
        ALL_MASK_ATTENTION_FUNCTIONS.register("eager", eager_mask_without_vmap)
        torch.onnx.register_custom_op_symbolic("aten::copy", lambda graph, _, source, __: graph.op("Identity", source), 18)
        for name, rows, count, past in [("first", 2, 5, 0), ("later", 2, 1, 4)]:
            one = lambda length: torch.ones(rows, length, dtype=torch.int64)
            example = [one(count), one(past + count), one(count)]
            if past:
                example += [torch.zeros(rows, 32, 3), torch.zeros(rows, 1, past, 16), torch.zeros(rows, 1, past, 16), torch.zeros(rows, 32, 3)]
            torch.onnx.export(
                Part(model, past > 0), tuple(example), Path(made) / f"{name}.onnx", dynamo=False, opset_version=18, dynamic_axes=axes,
                input_names=["input_ids", "attention_mask", "position_ids", *(pasts if past else [])], output_names=["logits", *presents],
            )
        merge_decoders(f"{made}/first.onnx", f"{made}/later.onnx", save_path=str(target / "onnx/decoder_model_merged.onnx"), strict=False)
        for file in Path(source).iterdir():
            if file.suffix in (".json", ".jinja"):
                shutil.copy(file, target)
    merge_data(target / "onnx/decoder_model_merged.onnx")
    finish(target, answers)


@export
def granite_hybrid():
    """
    Mamba layers (`past_conv.<i>`, `past_ssm.<i>`, the names of transformers.js) between attention without positions. Neither optimum-onnx 0.1 nor
    onnxruntime-genai 0.18 exports these layers, so it is transformers' own model by torch: its branch behind a past, which takes one token at a time.
    """
    from transformers import GraniteMoeHybridConfig, GraniteMoeHybridForCausalLM
    from transformers.models.granitemoehybrid.modeling_granitemoehybrid import HybridMambaAttentionDynamicCache

    config = GraniteMoeHybridConfig(
        hidden_size=32, intermediate_size=48, shared_intermediate_size=48, num_hidden_layers=3, num_attention_heads=2, num_key_value_heads=1,
        layer_types=["mamba", "attention", "mamba"], num_local_experts=0, num_experts_per_tok=0, position_embedding_type="nope",
        mamba_n_heads=4, mamba_d_head=16, mamba_d_state=16, mamba_n_groups=1, mamba_d_conv=4, mamba_expand=2, mamba_chunk_size=16,
        attn_implementation="eager", **shared,
    )

    class Step(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, *pasts):
            cache = HybridMambaAttentionDynamicCache(config, input_ids.shape[0], dtype=torch.float32)
            cache.has_previous_state = True
            pasts = list(pasts)
            for layer, kind in enumerate(config.layers_block_type):
                lists = (cache.conv_states, cache.ssm_states) if kind == "mamba" else (cache.key_cache, cache.value_cache)
                for each in lists:
                    each[layer] = pasts.pop(0).clone()
            past_length = attention_mask.shape[1] - 1
            position = torch.arange(past_length, past_length + 1)
            logits = self.model(input_ids, attention_mask=attention_mask, past_key_values=cache, cache_position=position, use_cache=True).logits
            presents = []
            for layer, kind in enumerate(config.layers_block_type):
                lists = (cache.conv_states, cache.ssm_states) if kind == "mamba" else (cache.key_cache, cache.value_cache)
                presents += [each[layer] for each in lists]
            return (logits, *presents)

    target = empty("granite_hybrid")
    (target / "onnx").mkdir()
    with tempfile.TemporaryDirectory() as source:
        model, answers = weights_of(lambda: GraniteMoeHybridForCausalLM(config), source)
        rows, length = 2, 5
        empty_cache = HybridMambaAttentionDynamicCache(config, rows, dtype=torch.float32)
        pasts, inputs, outputs = [], ["input_ids", "attention_mask"], ["logits"]
        axes = {"input_ids": {0: "batch_size"}, "attention_mask": {0: "batch_size", 1: "total_length"}, "logits": {0: "batch_size"}}
        for layer, kind in enumerate(config.layers_block_type):
            parts = ["conv", "ssm"] if kind == "mamba" else ["key", "value"]
            for part in parts:
                past, present = (f"past_{part}.{layer}", f"present_{part}.{layer}") if kind == "mamba" else (f"past_key_values.{layer}.{part}", f"present.{layer}.{part}")
                inputs.append(past)
                outputs.append(present)
                axes[past], axes[present] = {0: "batch_size"}, {0: "batch_size"}
                if kind == "mamba":
                    pasts.append((empty_cache.conv_states if part == "conv" else empty_cache.ssm_states)[layer])
                else:
                    axes[past][2], axes[present][2] = "past_length", "total_length"
                    pasts.append(torch.zeros(rows, config.num_key_value_heads, length, config.hidden_size // config.num_attention_heads))
        example = (torch.ones(rows, 1, dtype=torch.int64), torch.ones(rows, length + 1, dtype=torch.int64), *pasts)
        torch.onnx.export(Step(model), example, target / "onnx/model.onnx", dynamo=False, opset_version=18, input_names=inputs, output_names=outputs, dynamic_axes=axes)
        for file in Path(source).iterdir():
            if file.suffix in (".json", ".jinja"):
                shutil.copy(file, target)
    merge_data(target / "onnx/model.onnx")
    finish(target, answers)


@export
def bert_encoder():
    """No decoder: it gives vectors. To be refused."""
    from transformers import BertConfig, BertModel

    target = empty("bert_encoder")
    with tempfile.TemporaryDirectory() as source:
        sizes = {**shared, "max_position_embeddings": 64}
        BertModel(BertConfig(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=1, **sizes)).save_pretrained(source)
        tokenizer().save_pretrained(source)
        by_optimum(source, target, task="feature-extraction")
    merge_data(target / "onnx/model.onnx")
    finish(target, None)


@export
def t5_decoder():
    """A decoder behind an encoder. To be refused."""
    from transformers import T5Config, T5ForConditionalGeneration

    target = empty("t5_decoder")
    with tempfile.TemporaryDirectory() as source:
        T5ForConditionalGeneration(T5Config(d_model=16, d_ff=16, d_kv=16, num_heads=1, num_layers=1, decoder_start_token_id=end, **shared)).save_pretrained(source)
        tokenizer().save_pretrained(source)
        by_optimum(source, target, task="text2text-generation-with-past")
    for file in (target / "onnx").iterdir():
        if file.name != "decoder_model_merged.onnx":
            file.unlink()
    merge_data(target / "onnx/decoder_model_merged.onnx")
    finish(target, None)


if __name__ == "__main__":
    for name in sys.argv[1:] or exports:
        exports[name]()
