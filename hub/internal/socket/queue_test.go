package socket

import "testing"

// TestQueueIsEmptyAfterFlushing fills and empties a queue. An empty queue must keep no batch, so that an idle
// connection needs no memory for it.
func TestQueueIsEmptyAfterFlushing(t *testing.T) {
	s := &Socket{group: &Group{options: Options{QueueBytes: 1 << 20}}}
	s.flushing = true // prevents that a flusher is started: the test itself takes the batch
	for range 2 * keepFrames {
		s.Deliver(Frame{Bytes: EncodeFrame(JSON, []byte("x"))})
	}
	b := flusher{s}.take()
	if len(b.frames) != 2*keepFrames || s.queue.ready != nil {
		t.Fatalf("took %d frames of %d", len(b.frames), 2*keepFrames)
	}
	b.recycle()
	if (flusher{s}).take() != nil || s.flushing {
		t.Error("the flusher does not end with an empty queue")
	}
}

// TestAdmitShedsFirst admits a push over the bound. Frames that may be shed must be dropped first. If the push still
// does not fit, it must be refused.
func TestAdmitShedsFirst(t *testing.T) {
	var q queue
	push := func(f Frame) (ok bool, shed int) {
		if ok, shed = q.admit(f, 100); ok {
			q.push(&q.ready, f)
		}
		return ok, shed
	}
	frame := func(size int, shed bool) Frame { return Frame{Bytes: make([]byte, size), Shed: shed} }
	for i, step := range []struct {
		frame Frame
		ok    bool
		shed  int
	}{
		{frame(300, false), true, 0}, // an empty queue accepts a frame of any size
		{frame(10, true), false, 1},
	} {
		if ok, shed := push(step.frame); ok != step.ok || shed != step.shed {
			t.Errorf("step %d: admitted %v with %d shed, want %v with %d", i, ok, shed, step.ok, step.shed)
		}
	}
	q.drop(&q.ready)
	for i, step := range []struct {
		frame Frame
		ok    bool
		shed  int
	}{
		{frame(40, true), true, 0},
		{frame(40, false), true, 0},
		{frame(60, false), true, 1},
		{frame(1, false), false, 0},
	} {
		if ok, shed := push(step.frame); ok != step.ok || shed != step.shed {
			t.Errorf("step %d: admitted %v with %d shed, want %v with %d", i, ok, shed, step.ok, step.shed)
		}
	}
	if n := q.pushes.Load(); n != 100 {
		t.Errorf("%d bytes are counted, want 100", n)
	}
	q.drop(&q.ready)
	push(frame(90, true))
	if ok, shed := push(frame(300, false)); !ok || shed != 1 { // after the drop there are none
		t.Errorf("a large push over a queue of frames that may be shed: admitted %v with %d shed, want true with 1", ok, shed)
	}
}
