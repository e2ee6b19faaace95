"""Makes the narrow models of this folder: python make.py DIR

Each is a whole model of the transformers library with random weights, saved as the library saves
it (config.json, model.safetensors), and beside it what the attention half of one of its layers was
given and what it made of that (vectors.safetensors), and how qkvc is to be asked for that layer
(case.json). Made with transformers 4.38.2, torch 1.13 and safetensors 0.4 in float32.
"""

import json
import os
import sys

import torch
import transformers as hf
from safetensors.torch import save_file

ROOT = sys.argv[1]
WIDTH = 24
TOKENS = torch.tensor([[3, 7, 1, 5, 9, 2, 8]])
seen = {}


def randomised(model):
    with torch.no_grad():
        for name, weight in model.named_parameters():
            is_gain = weight.ndim == 1 and name.endswith("weight")
            weight.copy_(torch.randn_like(weight) * 0.25 + (1.0 if is_gain else 0.0))
    return model.eval()


def watch(module, name):
    """Notes the first input and the first output of a module."""
    forward = module.forward

    def noted(*args, **kwargs):
        seen[name + ".x"] = (args[0] if args else next(iter(kwargs.values()))).clone()
        result = forward(*args, **kwargs)
        seen[name + ".y"] = (result[0] if isinstance(result, tuple) else result).clone()
        return result

    module.forward = noted


def save(name, model, layer, x, y, context=None, **options):
    folder = os.path.join(ROOT, name)
    model.save_pretrained(folder, safe_serialization=True)
    for extra in ("generation_config.json",):
        if os.path.exists(os.path.join(folder, extra)):
            os.remove(os.path.join(folder, extra))
    tensors = {"x": x[0].contiguous(), "y": y[0].contiguous()}
    if context is not None:
        tensors["context"] = context[0].contiguous()
        options["cross"] = True
    save_file(tensors, os.path.join(folder, "vectors.safetensors"))
    with open(os.path.join(folder, "case.json"), "w") as file:
        json.dump({"layer": layer, **options}, file, sort_keys=True)
        file.write("\n")


def run(model, *args, **kwargs):
    torch.manual_seed(1)
    with torch.no_grad():
        return model(*args, **kwargs)


def whole(name, model, module, layer, inputs=TOKENS, context=None, **options):
    """A module that is the attention half by itself, as in BERT and T5."""
    watch(module, "whole")
    if context is not None:
        run(model, inputs, encoder_hidden_states=context)
    else:
        run(model, inputs)
    save(name, model, layer, seen["whole.x"], seen["whole.y"], context, **options)


def pre_norm(name, model, norm, attention, layer, inputs=TOKENS, context=None, **options):
    """A block whose attention half is x + attention(norm(x))."""
    watch(norm, "norm")
    attention.register_forward_hook(lambda m, i, o: seen.update(made=o[0].clone()))
    if context is not None:
        run(model, inputs, encoder_hidden_states=context)
    else:
        run(model, inputs)
    x = seen["norm.x"]
    save(name, model, layer, x, x + seen["made"], context, **options)


def bert(config, base, **more):
    return randomised(base(config(vocab_size=12, hidden_size=WIDTH, num_hidden_layers=2,
                                  num_attention_heads=4, intermediate_size=8,
                                  max_position_embeddings=16, **more)))


def encoders():
    model = bert(hf.BertConfig, hf.BertModel)
    whole("bert", model, model.encoder.layer[1].attention, 1)
    model = bert(hf.BertConfig, hf.BertModel, position_embedding_type="relative_key_query")
    whole("bert_relative", model, model.encoder.layer[0].attention, 0)
    model = bert(hf.BertConfig, hf.BertModel)
    model.prune_heads({1: [0, 2]})
    whole("bert_pruned", model, model.encoder.layer[1].attention, 1)
    model = bert(hf.BertConfig, hf.BertModel, is_decoder=True, add_cross_attention=True)
    whole("bert_cross", model, model.encoder.layer[1].crossattention, 1,
          context=torch.randn(1, 5, WIDTH))
    model = bert(hf.RobertaConfig, hf.RobertaModel)
    whole("roberta", model, model.encoder.layer[0].attention, 0)
    model = randomised(hf.DistilBertModel(hf.DistilBertConfig(
        vocab_size=12, dim=WIDTH, n_layers=2, n_heads=4, hidden_dim=8,
        max_position_embeddings=16)))
    layer = model.transformer.layer[1]
    watch(layer.attention, "attention")
    watch(layer.sa_layer_norm, "norm")
    run(model, TOKENS)
    save("distilbert", model, 1, seen["attention.x"], seen["norm.y"])
    model = randomised(hf.ViTModel(hf.ViTConfig(
        hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=4, intermediate_size=8,
        image_size=6, patch_size=3, qkv_bias=False)))
    layer = model.encoder.layer[1]
    pre_norm("vit", model, layer.layernorm_before, layer.attention, 1, torch.randn(1, 3, 6, 6))


def decoders():
    def gpt2(**more):
        return randomised(hf.GPT2LMHeadModel(hf.GPT2Config(
            vocab_size=12, n_embd=WIDTH, n_layer=2, n_head=4, n_positions=16, n_inner=8, **more)))

    model = gpt2(scale_attn_by_inverse_layer_idx=True)
    layer = model.transformer.h[1]
    pre_norm("gpt2", model, layer.ln_1, layer.attn, 1)
    model = gpt2(add_cross_attention=True)
    layer = model.transformer.h[0]
    pre_norm("gpt2_cross", model, layer.ln_cross_attn, layer.crossattention, 0,
             context=torch.randn(1, 5, WIDTH))
    llama = dict(vocab_size=12, hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=4,
                 num_key_value_heads=2, intermediate_size=8, max_position_embeddings=16)
    model = randomised(hf.LlamaForCausalLM(hf.LlamaConfig(
        rope_scaling={"type": "linear", "factor": 4.0}, **llama)))
    layer = model.model.layers[1]
    pre_norm("llama", model, layer.input_layernorm, layer.self_attn, 1)
    model = randomised(hf.MistralForCausalLM(hf.MistralConfig(
        sliding_window=3, attn_implementation="eager", **llama)))
    layer = model.model.layers[0]
    pre_norm("mistral", model, layer.input_layernorm, layer.self_attn, 0)
    llama.pop("num_key_value_heads")
    model = randomised(hf.PhiForCausalLM(hf.PhiConfig(partial_rotary_factor=0.4, **llama)))
    layer = model.model.layers[1]
    pre_norm("phi", model, layer.input_layernorm, layer.self_attn, 1)
    model = randomised(hf.GPTJForCausalLM(hf.GPTJConfig(
        vocab_size=12, n_embd=WIDTH, n_layer=1, n_head=4, n_positions=16, n_inner=8, rotary_dim=4)))
    layer = model.transformer.h[0]
    pre_norm("gptj", model, layer.ln_1, layer.attn, 0)
    model = randomised(hf.BloomForCausalLM(hf.BloomConfig(
        vocab_size=12, hidden_size=WIDTH, n_layer=1, n_head=6)))
    layer = model.transformer.h[0]
    watch(layer.input_layernorm, "norm")
    whole_output = layer.self_attention                # adds the residual itself
    whole_output.register_forward_hook(lambda m, i, o: seen.update(made=o[0].clone()))
    run(model, TOKENS)
    save("bloom", model, 0, seen["norm.x"], seen["made"])
    model = randomised(hf.MptForCausalLM(hf.MptConfig(
        vocab_size=12, d_model=WIDTH, n_layers=1, n_heads=6, max_seq_len=16)))
    layer = model.transformer.blocks[0]
    pre_norm("mpt", model, layer.norm_1, layer.attn, 0)


def encoder_decoders():
    for name, config, base in (("t5", hf.T5Config, hf.T5Model), ("mt5", hf.MT5Config, hf.MT5Model)):
        model = randomised(base(config(
            vocab_size=12, d_model=WIDTH, d_kv=5, d_ff=8, num_layers=2, num_decoder_layers=2,
            num_heads=4, relative_attention_num_buckets=8, relative_attention_max_distance=6)))
        halves = {"encoder": model.encoder.block[1].layer[0],
                  "decoder": model.decoder.block[1].layer[0],
                  "cross": model.decoder.block[1].layer[1]}
        for half, module in halves.items():
            watch(module, half)
        state = run(model, input_ids=TOKENS, decoder_input_ids=TOKENS.flip(1))
        for half in halves:
            if name == "mt5" and half != "encoder":
                continue
            context = state.encoder_last_hidden_state if half == "cross" else None
            options = {} if half == "cross" else {"stack": half}
            save(f"{name}_{half}", model, 1, seen[half + ".x"], seen[half + ".y"], context,
                 **options)
    model = randomised(hf.WhisperModel(hf.WhisperConfig(
        vocab_size=12, d_model=WIDTH, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
        decoder_attention_heads=6, encoder_ffn_dim=8, decoder_ffn_dim=8, max_source_positions=6,
        max_target_positions=16, num_mel_bins=4, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1, begin_suppress_tokens=None)))
    encoder, decoder = model.encoder.layers[0], model.decoder.layers[0]
    halves = {"encoder": (encoder.self_attn_layer_norm, encoder.self_attn),
              "decoder": (decoder.self_attn_layer_norm, decoder.self_attn),
              "cross": (decoder.encoder_attn_layer_norm, decoder.encoder_attn)}
    for half, (norm, attention) in halves.items():
        watch(norm, half)
        attention.register_forward_hook(
            lambda m, i, o, half=half: seen.update({half: o[0].clone()}))
    state = run(model, torch.randn(1, 4, 12), decoder_input_ids=TOKENS)
    for half in halves:
        context = state.encoder_last_hidden_state if half == "cross" else None
        options = {} if half == "cross" else {"stack": half}
        x = seen[half + ".x"]
        save("whisper_" + half, model, 0, x, x + seen[half], context, **options)


torch.manual_seed(0)
encoders()
decoders()
encoder_decoders()
