#!/usr/bin/python3
"""Whole networks beside PyTorch, OpenCV, ONNX Runtime and oneDNN's layers.

    onnx.py [threads|peers|tune|long|transfer|right|export|orders|layouts]...

Batch 1, one and two threads. Everyone is a process of its own that runs once
when told to, in turns; ratios are medians of pairs of the same turn. QUICK=1
takes MobileNet-v3 only, and less of it; NETS=resnet50,bert chooses. `long`
tunes for LONG=600 seconds a network and is only run when named. Debian has no
ONNX Runtime: its package for Node is used if NODE_PATH leads to it. Ends with
lines "aim NAME VALUE TARGET met|short".
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import core_type

HERE = Path(__file__).resolve().parents[1]
BUILD = HERE / "build" / "release"
QUICK = bool(os.environ.get("QUICK"))
NETS = os.environ.get("NETS", "mobilenetv3" if QUICK else
                      "resnet50,mobilenetv3,inceptionv3,bert").split(",")
TURNS = int(os.environ.get("TURNS", 7 if QUICK else 11))
# Time of oneDNN's layers, and PyTorch's over ours.
LAYERS = {"mobilenetv3": 1.15}
TORCH = {"resnet50": 1.1, "mobilenetv3": 1.5, "inceptionv3": 1.35, "bert": 1.2}
# Two threads over one.
BOTH = {"resnet50": 1.5, "mobilenetv3": 1.3}
BUDGET = 20 if QUICK else 60
LONG = int(os.environ.get("LONG", 600))
# Threads of OpenMP go on spinning for some milliseconds behind a run: who is
# next waits for that to end, or it would have one core less.
SETTLE = 0.03
aims, took = [], {}


def aim(name, value, target, more=True):
    met = value >= target if more else value <= target
    aims.append(f"aim {name} {value:.3g} {target:g} "
                f"{'met' if met else 'short'}")


def not_measured(name, target, why):
    aims.append(f"aim {name} - {target:g} not measured: {why}")


def environment(threads):
    env = dict(os.environ)
    core_type.force(env)
    for name in "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS":
        env[name] = str(threads)
    return env


class Runner:
    """A process that runs once for every line it is sent."""

    def __init__(self, name, command, threads, **more):
        self.name, self.command = name, command
        self.log = tempfile.TemporaryFile("w+")
        self.about, self.seconds = None, []
        if not shutil.which(command[0]):
            self.why = f"there is no {command[0]}"
            return
        self.process = subprocess.Popen(
            [str(c) for c in command], stdin=subprocess.PIPE, text=True,
            stdout=subprocess.PIPE, stderr=self.log,
            env={**environment(threads), **more})
        line = self.process.stdout.readline()
        self.about = json.loads(line) if line.startswith("{") else None
        if self.about is None:
            self.process.wait()
            self.log.seek(0)
            said = self.log.read().strip().splitlines()
            self.why = said[-1][:100] if said else "it said nothing"

    def once(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def run(self):
        """The second of two runs: the first finds caches as others left
        them."""
        time.sleep(SETTLE)
        self.once()
        self.seconds.append(self.once())

    def close(self):
        if self.about is not None:
            self.process.stdin.close()
            self.process.wait()


def spry(net, threads, store):
    return BUILD / "bench" / "bench-onnx", "run", f"net:{net}", threads, store


def race(runners, turns=TURNS):
    """In turns, each time beginning with another one; the first turn only
    warms up."""
    runners = [r for r in runners if r.about is not None]
    for i in range(turns + 1):
        for k in range(len(runners)):
            runners[(i + k) % len(runners)].run()
    for r in runners:
        del r.seconds[0]


def ratio(a, b):
    """b's time over a's, median of pairs, and its 95 % interval."""
    x = sorted(q / p for p, q in zip(a.seconds, b.seconds))
    off = max(0, int((len(x) - 1.96 * len(x) ** 0.5) / 2))
    return statistics.median(x), x[off], x[-1 - off]


def text_of(x):
    return f"{x[0]:.2f} [{x[1]:.2f}, {x[2]:.2f}]"


def tune(net, threads, store, seconds, order="payoff", transfer=1):
    out = subprocess.run(
        [BUILD / "bench" / "bench-onnx", "tune", f"net:{net}", str(threads),
         store, str(seconds), order, str(transfer)], capture_output=True,
        text=True)
    if out.returncode:
        print(out.stderr.strip())
        return None
    return json.loads(out.stdout)["seconds"]


def alone(folder, net, threads):
    """The store of a network that was tuned without knowing others."""
    return f"{folder}/{net}-{threads}.db"


def tuned_alone(folder, net, threads):
    """Seconds that this took; it is done once."""
    if (net, threads) not in took:
        seconds = (10 if QUICK else 20) if threads == 1 else BUDGET
        took[net, threads] = tune(net, threads, alone(folder, net, threads),
                                  seconds, transfer=0)
    return took[net, threads]


# ---- threads ----

def part_threads(folder):
    """Two threads beside one, nothing tuned."""
    for net in NETS:
        all = [Runner("one", spry(net, 1, ":memory:"), 1),
               Runner("two", spry(net, 2, ":memory:"), 2)]
        race(all)
        x = ratio(all[1], all[0])
        ms = [1e3 * statistics.median(r.seconds) for r in all]
        print(f"{net}: one thread {ms[0]:.2f} ms, two {ms[1]:.2f} ms: "
              f"{text_of(x)}", flush=True)
        aim(f"{net}-two-threads", x[0], BOTH.get(net, 1.5))
        for r in all:
            r.close()


# ---- beside others ----

def peers_of(net, model, threads):
    peer = HERE / "bench" / "onnx"
    return {
        "torch": ("/usr/bin/python3", peer / "torch_peer.py", net, threads),
        "opencv": ("/usr/bin/python3", peer / "opencv_peer.py", model,
                   threads),
        "onnxruntime": ("node", peer / "onnxruntime_peer.js", model, threads),
        "layers": (BUILD / "bench" / "bench-onnx", "onednn", f"net:{net}",
                   threads)}


def part_peers(folder):
    print(f"{'network':13}{'threads':>7}{'spry ms':>9}" + "".join(
        f"{name:>20}" for name in ("PyTorch", "OpenCV", "ONNX Runtime",
                                   "oneDNN layers")))
    for net in NETS:
        model = f"{folder}/{net}.onnx"
        if not os.path.exists(model):
            subprocess.run([BUILD / "spry", "net", "export", f"net:{net}",
                            "--out", model], check=True)
        for threads in 1, 2:
            tuned_alone(folder, net, threads)
            me = Runner("spry", spry(net, threads,
                                     alone(folder, net, threads)), threads)
            peers = [Runner(name, command, threads) for name, command
                     in peers_of(net, model, threads).items()]
            # OpenBLAS has threads of its own, which may wait for cores on
            # which OpenMP's spin: then torch is faster if these sleep.
            peers.append(Runner("torch", peers[0].command, threads,
                                OMP_WAIT_POLICY="passive"))
            race([me] + peers)
            spin, sleep = (f"{1e3 * statistics.median(r.seconds):.1f} ms"
                           if r.about else "-" for r in (peers[0], peers[-1]))
            show_peers(net, threads, me, [faster(peers[0], peers[-1])]
                       + peers[1:-1])
            print(f"{'':13}  torch: {spin} with threads that spin while they "
                  f"wait, {sleep} with those that sleep", flush=True)
            for r in [me] + peers:
                r.close()


def faster(a, b):
    known = [r for r in (a, b) if r.about is not None]
    return min(known, key=lambda r: statistics.median(r.seconds), default=a)


def show_peers(net, threads, me, peers):
    row = (f"{net:13}{threads:7}"
           f"{1e3 * statistics.median(me.seconds):9.2f}")
    goals = {"torch": TORCH[net], "opencv": 2, "onnxruntime": 0.9,
             "layers": LAYERS.get(net, 1.05)}
    for r in peers:
        name = f"{net}-{threads}-{r.name}"
        if r.about is None:
            row += f"{'-':>20}"
            not_measured(name, goals[r.name], r.why)
            continue
        x = ratio(me, r)
        row += f"{text_of(x):>20}"
        if r.name == "layers":
            aim(name, 1 / x[0], goals[r.name], more=False)
        else:
            aim(name, x[0], goals[r.name])
    print(row, flush=True)
    for r in peers:
        if r.about and r.about.get("mode"):
            print(f"{'':13}  {r.name}: {r.about['mode']}")


# ---- tuning ----

def opened(net, store):
    """Seconds that a new process takes to make the executor, its packed
    weights kept."""
    one = Runner("opened", spry(net, 2, store), 2)
    one.close()
    return one.about["make"] if one.about else float("inf")


def part_tune(folder):
    """Untuned, tuned for a minute, tuned for long; the first answer; memory."""
    for net in NETS:
        spent = tuned_alone(folder, net, 2)
        if spent is None:
            continue
        all = [Runner("untuned", spry(net, 2, ":memory:"), 2),
               Runner("tuned", spry(net, 2, alone(folder, net, 2)), 2)]
        race(all)
        x = ratio(all[1], all[0])
        run = statistics.median(all[1].seconds)
        about = all[1].about
        print(f"{net}: untuned {1e3 * statistics.median(all[0].seconds):.2f} "
              f"ms, tuned {1e3 * run:.2f} ms: {text_of(x)}; "
              f"tuned in {spent:.1f} s; made in {about['make']:.2f} s",
              flush=True)
        aim(f"{net}-untuned-over-tuned", x[0], 1.12, more=False)
        aim(f"{net}-never-slower", x[2], 1)
        aim(f"{net}-tuning-seconds", spent, 1.05 * BUDGET, more=False)
        made = statistics.median(
            [about["make"]] + [opened(net, alone(folder, net, 2))
                               for i in range(6)])
        print(f"{net}: opened in {1e3 * made:.2f} ms, median of 7", flush=True)
        aim(f"{net}-first-answer-inferences", (made + run) / run, 3,
            more=False)
        aim(f"{net}-arena-over-live", about["arena"] / about["live"], 1.1,
            more=False)
        for r in all:
            r.close()
        if "long" not in sys.argv:
            not_measured(f"{net}-minute-over-long", 1.03,
                         f"PARTS=long tunes for {LONG} s")


def part_long(folder):
    """A minute's tuning beside ten minutes'."""
    for net in NETS:
        store = f"{folder}/{net}-long.db"
        tuned_alone(folder, net, 2)
        tune(net, 2, store, LONG, transfer=0)
        all = [Runner("minute", spry(net, 2, alone(folder, net, 2)), 2),
               Runner("long", spry(net, 2, store), 2)]
        race(all, 2 * TURNS)
        x = ratio(all[1], all[0])
        print(f"{net}: {BUDGET} s of tuning over {LONG} s: {text_of(x)}",
              flush=True)
        aim(f"{net}-minute-over-long", x[0], 1.03, more=False)
        for r in all:
            r.close()


def part_transfer(folder):
    """Table 8 of the transfer tuner: seconds to tune and milliseconds of a
    run, without and with what other networks taught. The first network only
    teaches: nothing is known before it."""
    nets = NETS if len(NETS) > 1 else ["resnet50"] + NETS
    shared = f"{folder}/shared.db"
    print(f"{nets[0]} teaches in {tune(nets[0], 2, shared, BUDGET):.1f} s")
    print(f"{'network':14}{'s without':>11}{'ms':>9}{'s with':>9}{'ms':>9}"
          f"{'ms untuned':>13}", flush=True)
    for net in nets[1:]:
        before = tuned_alone(folder, net, 2)
        with_all = tune(net, 2, shared, BUDGET)
        if before is None or with_all is None:
            continue
        all = [Runner("without", spry(net, 2, alone(folder, net, 2)), 2),
               Runner("with", spry(net, 2, shared), 2),
               Runner("untuned", spry(net, 2, ":memory:"), 2)]
        race(all, 2 * TURNS)
        ms = [1e3 * statistics.median(r.seconds) for r in all]
        latency = ratio(all[0], all[1])
        print(f"{net:14}{before:11.1f}{ms[0]:9.2f}{with_all:9.1f}{ms[1]:9.2f}"
              f"{ms[2]:13.2f}   with over without {text_of(latency)}, untuned "
              f"over without {text_of(ratio(all[0], all[2]))}", flush=True)
        aim(f"{net}-transfer-time", with_all / before, 0.25, more=False)
        aim(f"{net}-transfer-latency", latency[0], 1.01, more=False)
        for r in all:
            r.close()


def part_orders(folder):
    """Which order wins most in little time?"""
    net, seconds = NETS[0], 10 if QUICK else 30
    all = []
    for order in "payoff", "gradient", "flops":
        store = f"{folder}/{order}.db"
        if tune(net, 2, store, seconds, order, 0) is not None:
            all.append(Runner(order, spry(net, 2, store), 2))
    race(all)
    for r in all:
        print(f"{net}, {seconds} s by {r.name}: "
              f"{1e3 * statistics.median(r.seconds):.2f} ms")
        if r.name != "payoff" and all[0].name == "payoff":
            aim(f"{net}-payoff-over-{r.name}", ratio(all[0], r)[0], 1)
        r.close()


def part_layouts(folder):
    """What a layout of its own for every layer could win at most: oneDNN's
    layers with channels as neighbours, in blocks of channels, and the faster
    of both, as if moving from one to the other took no time."""
    for net in NETS:
        for threads in 1, 2:
            out = subprocess.run(
                [BUILD / "bench" / "bench-onnx", "layouts", f"net:{net}",
                 str(threads)], capture_output=True, text=True,
                env=environment(threads))
            if out.returncode:
                print(out.stderr.strip())
                continue
            x = json.loads(out.stdout)
            if not x["layers"]:
                print(f"{net}: oneDNN is not here")
                continue
            print(f"{net}, threads {threads}: {x['layers']} layers, channels "
                  f"as neighbours {1e3 * x['neighbours']:.2f} ms, in blocks "
                  f"{1e3 * x['blocked']:.2f}, the faster of each "
                  f"{1e3 * x['faster']:.2f}: at most "
                  f"{100 * (1 - x['faster'] / x['neighbours']):.1f} % to be "
                  f"won, in {x['blocked_faster']} layers", flush=True)


# ---- right, and as C ----

def part_right(folder):
    for net in NETS:
        out = subprocess.run([BUILD / "bench" / "bench-onnx", "check",
                              f"net:{net}"], capture_output=True, text=True)
        if out.returncode:
            print(out.stderr.strip())
            continue
        off = json.loads(out.stdout)
        print(f"{net}: off by {off['with']:.2g}, without Winograd "
              f"{off['without']:.2g}, of the largest output", flush=True)
        aim(f"{net}-error", off["with"], 1e-4, more=False)
        aim(f"{net}-error-without-winograd", off["without"], 1e-5, more=False)


def part_export(folder):
    """The exported C beside the plan."""
    net = "mobilenetv3"
    try:
        subprocess.run(["cmake", "--version"], stdout=subprocess.DEVNULL)
    except OSError:
        not_measured("export-speed", 0.98, "there is no cmake")
        return
    for threads in 1, 2:
        out = f"{folder}/c{threads}"
        subprocess.run([BUILD / "spry", "net", "export", f"net:{net}", "--out",
                        out, "--name", "net", "--untuned", "--threads",
                        str(threads)], check=True, stdout=subprocess.DEVNULL)
        (Path(out) / "turns.c").write_text(TURNS_C)
        with open(f"{out}/CMakeLists.txt", "a") as f:
            f.write("add_executable(turns turns.c)\n"
                    "target_link_libraries(turns PRIVATE net)\n")
        made = subprocess.run(
            f"cmake -S {out} -B {out}/b -DCMAKE_C_FLAGS='-Wall -Wextra' "
            f"&& cmake --build {out}/b --target turns", shell=True,
            capture_output=True, text=True)
        if made.returncode:
            not_measured("export-speed", 0.98, made.stderr[-80:])
            return
        aim(f"export-warnings-{threads}", made.stderr.count("warning"), 0,
            more=False)
        all = [Runner("plan", spry(net, threads, ":memory:"), threads),
               Runner("C", (f"{out}/b/turns", f"{out}/net.bin"), threads)]
        race(all, 4 * TURNS)
        x = ratio(all[1], all[0])
        print(f"{net}, {threads} threads: exported C over the plan "
              f"{text_of(x)}", flush=True)
        aim(f"export-speed-{threads}", x[0], 0.98)
        for r in all:
            r.close()


TURNS_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "net.h"
static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
int main(int argc, char **argv)
{
    net *m = argc > 1 ? net_load(argv[1]) : NULL;
    void *memory = aligned_alloc(64, net_MEMORY);
    float *x = calloc(3 * 224 * 224, 4), *y = calloc(1000, 4);
    char line[64];
    if (!m || !memory || !x || !y)
        return 1;
    for (int i = 0; i < 3 * 224 * 224; i++)
        x[i] = (float)(i % 17) / 16 - 0.5f;
    printf("{\"name\": \"C\"}\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        double begun = now();
        net_run(m, memory, x, y);
        printf("%.9f\n", now() - begun);
        fflush(stdout);
    }
    return 0;
}
"""

PARTS = {"threads": part_threads, "right": part_right, "export": part_export,
         "peers": part_peers, "tune": part_tune, "long": part_long,
         "transfer": part_transfer,
         "orders": part_orders, "layouts": part_layouts}


def main():
    usual = ["threads", "export", "tune", "peers", "right"] if QUICK else [
        "threads", "export", "tune", "transfer", "peers", "right"]
    chosen = sys.argv[1:] or usual
    begun = time.monotonic()
    for part in chosen:
        if part not in PARTS:
            sys.exit(f"onnx.py: '{part}' is none of {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory(prefix="spry-bench-") as folder:
        os.environ.setdefault("SPRY_HOME", folder)
        for part in chosen:
            print(f"== {part}", flush=True)
            PARTS[part](folder)
    print(f"in {time.monotonic() - begun:.0f} s")
    print("\n".join(aims))


if __name__ == "__main__":
    main()
