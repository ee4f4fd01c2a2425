package hub

import (
	"bytes"
	"testing"
)

// FuzzBacklog runs commits, reads from the store and requests of reconnecting clients in the order that the input
// gives. What a topic returns must equal the content of the store at that moment. The backlog must stay within its
// bounds.
func FuzzBacklog(f *testing.F) {
	f.Add([]byte{0x10, 0x18, 0x0c, 0x05, 0x13, 0x06, 0x14})             // a text is recalled while a read is in progress
	f.Add([]byte{0x10, 0x0c, 0x06, 0x18, 0x1b, 0x1c})                   // a text in the backlog is recalled
	f.Add([]byte{0x10, 0x18, 0x20, 0x14, 0x15, 0x06, 0x1c})             // the result of a read lacks a message
	f.Add([]byte{0x10, 0x0c, 0x07, 0x0c, 0x06, 0x0f, 0x0c, 0x06})       // a read fails, and a topic drops its backlog
	f.Add([]byte{0xfa, 0x0c, 0x06, 0xfa, 0xfa, 0xfc, 0x99, 0x99, 0xfc}) // more messages than a backlog may hold
	f.Add([]byte{0xf9, 0xf9, 0x0c, 0x06, 0xf9, 0xf9, 0xf9, 0xf9, 0xf9, 0xf9, 0x0c})
	f.Fuzz(func(t *testing.T, script []byte) {
		m := newBacklogModel(t)
		for _, b := range script[:min(len(script), 300)] {
			m.do(b&7, int(b>>3))
			m.check(false)
		}
		m.check(true)
	})
}

// backlogModel is a topic, and the messages that the store holds for it.
type backlogModel struct {
	t       *testing.T
	topic   *topic
	stored  []Message // from seq 1 on
	reading *fill     // nil: no read is in progress
	read    []Message // the result of the read
}

func newBacklogModel(t *testing.T) *backlogModel {
	o := quietOptions()
	o.Revise = func(m Message) func(Message) Message {
		target, ok := bytes.CutPrefix(m.Data, []byte("forget "))
		if !ok {
			return nil
		}
		return func(earlier Message) Message {
			if bytes.HasPrefix(earlier.Data, target) {
				earlier.Data = []byte("forgotten")
			}
			return earlier
		}
	}
	model := &backlogModel{t: t, topic: New(o).topics.findOrCreate("room")}
	model.topic.last = 0
	return model
}

func (m *backlogModel) do(what byte, n int) {
	last := int64(len(m.stored))
	switch what {
	case 0:
		m.commit(message(n, 1+n))
	case 1:
		m.commit(message(n, n*2000))
	case 2:
		for i := range 10 * n {
			m.commit(message(i%32, 10))
		}
	case 3:
		m.commit(append([]byte("forget "), message(n, 1)...))
	case 4:
		m.ask(Span{After: max(0, last-int64(n)), Through: last})
	case 5:
		m.find(n)
	case 6:
		m.answer(false)
	case 7:
		if n%2 == 0 {
			m.answer(true)
		} else {
			m.topic.Fire(1 << 40)
		}
	}
}

// message returns a text of the given size, filled with one of 32 letters that n selects.
func message(n, size int) []byte { return bytes.Repeat([]byte{'A' + byte(n)}, max(1, size)) }

// commit stores a message, applies the changes that it makes to earlier messages, and delivers it to the topic.
func (m *backlogModel) commit(data []byte) {
	committed := Message{Seq: int64(len(m.stored) + 1), Data: data}
	if change := m.topic.env.revise(committed); change != nil {
		for i := range m.stored {
			m.stored[i] = change(m.stored[i])
		}
	}
	m.stored = append(m.stored, committed)
	m.topic.accept(committed)
}

// ask requests a span as a reconnecting client does, and checks the messages returned.
func (m *backlogModel) ask(span Span) {
	messages, o := m.topic.recall(span)
	if o != nil && o.begin {
		m.reading, m.read = o.fill, nil
		m.reading.widen(int64(len(m.stored) % 2 * maxBacklog))
		return
	}
	if messages == nil {
		return
	}
	if int64(len(messages)) != span.Through-span.After {
		m.t.Fatalf("%d messages for %+v", len(messages), span)
	}
	for i, got := range messages {
		if seq := span.After + 1 + int64(i); got.Seq != seq || !bytes.Equal(got.Data, m.stored[seq-1].Data) {
			m.t.Fatalf("seq %d is %.20q, the store has %.20q", got.Seq, got.Data, m.stored[seq-1].Data)
		}
	}
}

// find sets the result of the read in progress to the present content of the store. If n is not 0, the nth message from
// the end is left out.
func (m *backlogModel) find(n int) {
	if m.reading == nil || m.read != nil {
		return
	}
	span := m.reading.span
	for seq := span.After + 1; seq <= span.Through; seq++ {
		if n > 0 && seq == span.Through+1-int64(n) {
			continue
		}
		m.read = append(m.read, m.stored[seq-1])
	}
}

// answer ends the read in progress with the result that find has set, or with a failure.
func (m *backlogModel) answer(failed bool) {
	if m.reading == nil {
		return
	}
	if !failed {
		m.find(0)
	}
	m.topic.filled(m.reading, m.read, failed)
	m.reading, m.read = nil, nil
}

// check compares the backlog with its bounds and, if texts is true, with the content of the store.
func (m *backlogModel) check(texts bool) {
	kept := m.topic.backlog
	if kept == nil {
		kept = &backlog{first: m.topic.last + 1}
	}
	if total := m.topic.env.backlogs.Load(); total != int64(kept.bytes) {
		m.t.Fatalf("the backlog counts %d bytes, the hub %d", kept.bytes, total)
	}
	size := 0
	for i, got := range kept.messages {
		size += sizeOf(got)
		if want := m.stored[kept.first-1+int64(i)]; texts && !bytes.Equal(got.Data, want.Data) {
			m.t.Fatalf("seq %d is kept as %.20q, the store has %.20q", kept.first+int64(i), got.Data, want.Data)
		}
	}
	count := len(kept.messages)
	if end := kept.first + int64(count) - 1; end != m.topic.last || kept.bytes != size || size > maxBacklogBytes || count > maxBacklog {
		m.t.Fatalf("%d messages are kept of %d bytes, %d are counted; they are those from %d to %d, the topic is at %d",
			count, size, kept.bytes, kept.first, end, m.topic.last)
	}
}
