"""conversation.py -- a conversation from Python: append, condense, write a request, rewind.  Needs libmaki and ctypes alone.

    python3 conversation.py talk.jsonl
"""
import ctypes
import json
import os
import sys


class Str(ctypes.Structure):  # maki_str
    _fields_ = [("ptr", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Err(ctypes.Structure):  # maki_err
    _fields_ = [("status", ctypes.c_int), ("code", ctypes.c_char * 32), ("msg", ctypes.c_char * 200)]


Write = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, Str, ctypes.POINTER(Err))


class Sink(ctypes.Structure):  # maki_sink
    _fields_ = [("write", Write), ("ctx", ctypes.c_void_p)]


lib = ctypes.CDLL(os.environ.get("LIBMAKI", "libmaki.so.0"))
lib.maki_open.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(Err)]
lib.maki_op.argtypes = [ctypes.c_void_p, Str, Str, Sink, ctypes.POINTER(Err)]
lib.maki_close.argtypes = [ctypes.c_void_p]


def borrowed(data):
    return Str(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data))


class Maki:
    """Any operation as a method call: JSON in, JSON out."""

    def __init__(self):
        self.handle, err = ctypes.c_void_p(), Err()
        if lib.maki_open(None, self.handle, err):
            raise OSError(err.msg.decode())

    def op(self, name, **fields):
        name, given, parts, err = name.encode(), json.dumps(fields).encode(), [], Err()

        def write(_ctx, piece, _err):
            parts.append(ctypes.string_at(piece.ptr, piece.len))
            return 0

        if lib.maki_op(self.handle, borrowed(name), borrowed(given), Sink(Write(write), None), err):
            raise ValueError(f"{err.msg.decode()} ({err.code.decode()})")
        return json.loads(b"".join(parts))

    def close(self):
        lib.maki_close(self.handle)


maki = Maki()
path = sys.argv[1] if len(sys.argv) > 1 else "talk.jsonl"
said = ["巻き寿司の具は何ですか？", "まぐろときゅうりです。 🍣", "나무젓가락은요?", "네, 드릴게요.", "谢谢！", "不客气。", "And some tea, please."]
messages = [{"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(said)]
print("history.append", maki.op("history.append", conversation=path, messages=messages)["seq"])
summary = {"chunks": ["Sushi with tuna; chopsticks come."], "cost": 0}  # your own; without it Maki writes one
print("history.condense", maki.op("history.condense", conversation=path, keepCount=3, summarizer=summary)["removed"])
request = maki.op("request.build", conversation=path, protocol="anthropic", model="claude-sonnet-5-5", maxTokens=4096)["request"]
print("request.build", json.dumps(request, ensure_ascii=False))
print("history.rewind", maki.op("history.rewind", conversation=path, seq=4)["visible"])
maki.close()
