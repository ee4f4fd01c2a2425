package hub

import "testing"

// TestTraceIsAFinalTopicOnTheBus encodes messages with the name of a span. Versions without traces read them as messages with a
// final topic that no connection has. A message that has a final topic keeps it.
func TestTraceIsAFinalTopicOnTheBus(t *testing.T) {
	const span = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for name, c := range map[string]struct {
		message Message
		kind    payloadKind
		final   string
	}{
		"no trace":             {Message{Data: []byte("{}")}, kindMessage, ""},
		"trace":                {Message{Data: []byte("{}"), Trace: span}, kindFinal, tracePrefix + span},
		"trace and final":      {Message{Seq: 3, Data: []byte("{}"), Trace: span, Final: "user:ann"}, kindFinal, "user:ann"},
		"trace of a late push": {Message{Seq: 3, Data: []byte("{}"), Trace: span, Deferred: true}, kindDeferred, ""},
	} {
		e, err := parseEnvelope(c.message.envelope().encode())
		if err != nil || e.kind != c.kind || e.final != c.final || string(e.data) != "{}" || e.seq != c.message.Seq {
			t.Errorf("%s: %+v, %v; want kind %c and final topic %q", name, e, err, c.kind, c.final)
		}
	}
}
