#!/bin/sh
# A command that is killed while it writes leaves no temporary file behind:
# what is there is whole and has the name that was asked for.
# shellcheck source=/dev/null
. "$TOOLS"
[ -d /proc/self/fd ] || skip "there is no /proc"
python3 - "$SPRY" <<'END' || fail "see above"
import os, re, shutil, signal, subprocess, sys, time

spry = [sys.argv[1], 'net']
wide = 'gen:radix,width=4096,depth=30'
commands = [
    (['generate', wide, '--out', 'a.spnet'], r'a\.spnet'),
    (['generate', wide, '--out', '.'], r'n4096-l\d+\.tsv'),
    (['compile', wide, '--passes', 'none', '--out', 'b.spnet'], r'b\.spnet'),
    (['export', wide, '--passes', 'none', '--name', 'c'], r'c\.[ch]'),
    (['run', 'gen:radix,width=4096,depth=1', '--batch', '9000',
      '--out', 'd.npy'], r'd\.npy'),
]


def writes(p, folder):
    """Has the process a file in the folder open?"""
    try:
        for fd in os.listdir('/proc/%d/fd' % p.pid):
            if os.readlink('/proc/%d/fd/%s' % (p.pid, fd)).startswith(folder):
                return True
    except OSError: # a file was closed, or it ended
        pass
    return False


# Four turns at least, and as many more as it takes until five were killed
# amid their writing: on a busy machine a signal may come too late.
killed = turn = 0
while turn < 4 or killed < 5 and turn < 100:
    turn += 1
    for words, name in commands:
        shutil.rmtree('at', ignore_errors=True)
        os.mkdir('at')
        folder = os.path.realpath('at') + '/'
        # Whoever starts this may be deaf to SIGINT, which is inherited.
        p = subprocess.Popen(
            spry + words, cwd='at', stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        while p.poll() is None and not writes(p, folder):
            time.sleep(0.002)
        p.send_signal([signal.SIGINT, signal.SIGTERM][turn % 2])
        killed += p.wait() != 0
        for left in os.listdir('at'):
            if not re.fullmatch(name, left):
                sys.exit('%s left %s' % (' '.join(words), left))
if killed < 5:
    sys.exit('only %d were killed in time' % killed)
END
exit 0
