package enginetest

import (
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

// repeatedUnits are what hostile texts repeat: escapes, delimiters, tokens and characters that a normal form moves or removes.
var repeatedUnits = []string{
	`\\`, `\"`, `\/`, `\n`, `\u0041`, `\ud800`, `\ud83e\udde7`, `\\u0000`, `\u0000`, `\`,
	`"`, `""`, `"",`, `{`, `}`, `{}`, `{},`, `[`, `]`, `[]`, `[],`, `,`, `:`, `{"a":`, `[0,`, `"a":1,`, `"a":{},`, `"a":"\\u0000",`,
	"0", "1", "-", "1e", ".", "0.", "1,", "null,", "true,", "a", "a.", "a ", "A\u0301",
	" ", "\t", "\n", "\r\n", "{}\n", `{"id":1}` + "\n", "/", "%41", "%", "&", "=", "a=1&", ";", "@", "?", "#", "\x00", "\x01", "\x80", "\xff", "\n\x00", "\x0a\x02\x08\x01",
	"\u0301", "\u0316\u0301", "\u1100\u1161", "\u200d", "☺\u200d", "☺\u200d\ufffd", "\u200d\ufffd", "\ufe0f", "0\ufe0f\u20e3", "\u202e", "\u2800", "\ufdfa", "\U0001f3fb",
}

// lastUnits end a text. A decoder may look for them from its beginning again and again.
var lastUnits = []string{"", `\\u0000`}

// Linear feeds a decoder texts of 8 and 128 KiB that repeat one unit, and fails if the work does not grow in proportion. The decoder
// must wrap the text into each form that it reads. Linear compares processor time with processor time, so no verdict depends on the
// speed of the machine: work in proportion takes 16 times as long, and on a busy machine up to 40 times, quadratic work 256 times.
func Linear(t *testing.T, name string, decode func(text string)) {
	t.Helper()
	const short, long, most = 8 << 10, 128 << 10, 80
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	copied := time.Duration(math.MaxInt64) // for a long text; a short one may need no new memory, which can be dear under the race detector
	for range 8 {
		copied = min(copied, processorTime(func(text string) { runtime.KeepAlive(string(append([]byte{0}, text...))) }, "a", "", long))
	}
	exact := max(20*time.Microsecond, copied*short/long) // shorter times are not exact, or too short to copy a long text in proportion
	for _, unit := range repeatedUnits {
		for _, last := range lastUnits {
			ratio, atShort, atLong := 0.0, time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for range 8 { // the least time of each: a busy machine, or a run of the garbage collector, may disturb some
				atShort = min(atShort, processorTime(decode, unit, last, short))
				atLong = min(atLong, processorTime(decode, unit, last, long))
				if ratio = float64(atLong) / float64(max(atShort, exact)); ratio <= most {
					break
				}
			}
			if ratio > most {
				t.Fatalf("%s: a text that is 16 times as long takes %.0f times the work, want about 16: %q repeated, and then %q", name, ratio, unit, last)
			}
		}
	}
}

// processorTime returns the processor time that the decoder takes for a text.
func processorTime(decode func(string), unit, last string, size int) time.Duration {
	text := strings.Repeat(unit, size/len(unit)) + last
	began := threadTime()
	decode(text)
	return threadTime() - began
}
