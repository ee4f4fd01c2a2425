package hub

import (
	"bytes"
	"testing"
)

// FuzzRecent lets messages, reads of the store, and those who come back meet in any order: what a topic gives is what the
// store has at that moment, and it keeps no more than it may.
func FuzzRecent(f *testing.F) {
	f.Add([]byte{0x10, 0x18, 0x0c, 0x05, 0x13, 0x06, 0x14})             // recalled between the read and its end
	f.Add([]byte{0x10, 0x0c, 0x06, 0x18, 0x1b, 0x1c})                   // recalled when it is kept
	f.Add([]byte{0x10, 0x18, 0x20, 0x14, 0x15, 0x06, 0x1c})             // a hole in what was read
	f.Add([]byte{0x10, 0x0c, 0x07, 0x0c, 0x06, 0x0f, 0x0c, 0x06})       // a read that fails, and a topic that forgets
	f.Add([]byte{0xfa, 0x0c, 0x06, 0xfa, 0xfa, 0xfc, 0x99, 0x99, 0xfc}) // more than is kept
	f.Add([]byte{0xf9, 0xf9, 0x0c, 0x06, 0xf9, 0xf9, 0xf9, 0xf9, 0xf9, 0xf9, 0x0c})
	f.Fuzz(func(t *testing.T, script []byte) {
		s := newFilling(t)
		for _, b := range script[:min(len(script), 300)] {
			s.do(b&7, int(b>>3))
			s.check(false)
		}
		s.check(true)
	})
}

// filling is a topic and, in stored, what the store has of it.
type filling struct {
	t       *testing.T
	topic   *topic
	stored  [][]byte // behind the seq 0
	reading *fill
	read    []Message // what the read under way has found
}

func newFilling(t *testing.T) *filling {
	o := quietOptions()
	o.Revise = func(m Message) func([]byte) []byte {
		target, ok := bytes.CutPrefix(m.Data, []byte("forget "))
		if !ok {
			return nil
		}
		return func(data []byte) []byte {
			if bytes.HasPrefix(data, target) {
				return []byte("forgotten")
			}
			return data
		}
	}
	s := &filling{t: t, topic: New(o).findOrMake("room")}
	s.topic.last = 0
	return s
}

func (s *filling) do(what byte, n int) {
	last := int64(len(s.stored))
	switch what {
	case 0:
		s.commit(message(n, 1+n))
	case 1:
		s.commit(message(n, n*2000))
	case 2:
		for i := range 10 * n {
			s.commit(message(i%32, 10))
		}
	case 3:
		s.commit(append([]byte("forget "), message(n, 1)...))
	case 4:
		s.ask(Span{After: max(0, last-int64(n)), Through: last})
	case 5:
		s.find(n)
	case 6:
		s.answer(false)
	case 7:
		if n%2 == 0 {
			s.answer(true)
		} else {
			s.topic.forgetRecent(1 << 40)
		}
	}
}

// message is one of 32 that differ in their first byte.
func message(n, size int) []byte { return bytes.Repeat([]byte{'A' + byte(n)}, max(1, size)) }

// commit writes a message, with what it makes of earlier ones, and delivers it.
func (s *filling) commit(data []byte) {
	m := Message{Seq: int64(len(s.stored) + 1), Data: data}
	if change := s.topic.hub.o.Revise(m); change != nil {
		for i := range s.stored {
			s.stored[i] = change(s.stored[i])
		}
	}
	s.stored = append(s.stored, data)
	s.topic.accept(m)
}

// ask is what somebody does who comes back.
func (s *filling) ask(span Span) {
	messages, in := s.topic.recall(span)
	if in != nil && in.begin {
		s.reading, s.read = in.fill, nil
		s.reading.widen(int64(len(s.stored) % 2 * keptMessages))
		return
	}
	if messages == nil {
		return
	}
	if int64(len(messages)) != span.Through-span.After {
		s.t.Fatalf("%d messages for %+v", len(messages), span)
	}
	for i, m := range messages {
		if seq := span.After + 1 + int64(i); m.Seq != seq || !bytes.Equal(m.Data, s.stored[seq-1]) {
			s.t.Fatalf("seq %d is %.20q, the store has %.20q", m.Seq, m.Data, s.stored[seq-1])
		}
	}
}

// find has the read under way see the store as it is now, but for one message, the nth from the end; 0: all of it.
func (s *filling) find(n int) {
	if s.reading == nil || s.read != nil {
		return
	}
	span := s.reading.span
	for seq := span.After + 1; seq <= span.Through; seq++ {
		if n > 0 && seq == span.Through+1-int64(n) {
			continue
		}
		s.read = append(s.read, Message{Seq: seq, Data: s.stored[seq-1]})
	}
}

// answer ends the read.
func (s *filling) answer(failed bool) {
	if s.reading == nil {
		return
	}
	if !failed {
		s.find(0)
	}
	s.reading.filled(s.read, failed)
	s.reading, s.read = nil, nil
}

// check looks at how much is kept, and at what.
func (s *filling) check(texts bool) {
	r := s.topic.recent
	if r == nil {
		r = &recent{first: s.topic.last + 1}
	}
	if all := s.topic.hub.kept.Load(); all != int64(r.bytes) {
		s.t.Fatalf("%d bytes are kept, the hub has %d", r.bytes, all)
	}
	size := 0
	for i, data := range r.kept {
		size += len(data)
		if want := s.stored[r.first-1+int64(i)]; texts && !bytes.Equal(data, want) {
			s.t.Fatalf("seq %d is kept as %.20q, the store has %.20q", r.first+int64(i), data, want)
		}
	}
	if end := r.first + int64(len(r.kept)) - 1; end != s.topic.last || r.bytes != size || size > keptBytes || len(r.kept) > keptMessages {
		s.t.Fatalf("%d kept of %d bytes, noted %d, from %d to %d of %d", len(r.kept), size, r.bytes, r.first, end, s.topic.last)
	}
}
