package hubtest

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// TestBufferedPipeKeepsOrderUntilItIsClosed writes a lot before the other end reads. All must arrive, in order, also after the end of the writer.
func TestBufferedPipeKeepsOrderUntilItIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := BufferedPipe()
		want := strings.Repeat("0123456789", 20_000)
		for part := want; part != ""; part = part[1000:] {
			if _, err := io.WriteString(near, part[:1000]); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if err := near.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(far)
		if err != nil || string(got) != want {
			t.Errorf("%d bytes came, %v; want %d", len(got), err, len(want))
		}
		if err := far.Close(); err != nil {
			t.Error(err)
		}
	})
}
