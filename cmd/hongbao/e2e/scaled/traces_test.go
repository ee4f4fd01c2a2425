package scaled

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// TestScaledTraces follows one grab by its spans: socket, script, commit, broadcast, and delivery by another server. A grab over HTTP
// continues the trace of its request, and is not recorded if the request says so.
func TestScaledTraces(t *testing.T) {
	enginetest.Nightly(t, "scaled")
	collector := e2e.StartCollector(t)
	traced := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + collector.URL, "OTEL_BSP_SCHEDULE_DELAY=50", "OTEL_SERVICE_NAME=chat"}
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), storetest.Database(t), traced, traced)
	here, there := cluster.Servers[0], cluster.Servers[1]
	c := newConversation(t, here, there)
	packet := c.packet(3)

	reply := e2e.Call[wire.GrabReply](c.speakers[0], "grab", wire.GrabRequest{Packet: packet})
	if reply.Amount == 0 {
		t.Fatalf("the grab is answered %+v, want a share", reply)
	}
	grab := await(t, collector, "the span of the grab", func(s e2e.Span) bool { return s.Name == "grab" && s.Parent == "" })
	if grab.Kind != "SPAN_KIND_SERVER" || grab.Service != "chat" || grab.Attributes["hongbao.code"] != "0" || !strings.Contains(grab.Attributes["hongbao.request"], "/") {
		t.Errorf("the span of the grab is %+v, want a server's, with service, code and request", grab)
	}
	child := func(of e2e.Span, name, kind string) e2e.Span {
		t.Helper()
		s := await(t, collector, name+" below "+of.Name, func(s e2e.Span) bool { return s.Trace == grab.Trace && s.Parent == of.ID && s.Name == name })
		if s.Kind != "SPAN_KIND_"+kind {
			t.Errorf("%s is of %s, want %s", name, s.Kind, kind)
		}
		return s
	}
	pool := child(grab, "pool.grab", "INTERNAL")
	if pool.Attributes["hongbao.packet"] != packet {
		t.Errorf("pool.grab has the attributes %v, want the packet %s", pool.Attributes, packet)
	}
	child(pool, "redis script", "CLIENT")
	settle := child(grab, "ledger.settle", "INTERNAL")
	commit := child(settle, "postgres settle", "CLIENT")
	child(grab, "publish wallet", "PRODUCER")
	progress := child(grab, "publish packet_progress", "PRODUCER")
	for _, s := range []e2e.Span{pool, commit, progress} {
		if s.Instance != grab.Instance {
			t.Errorf("%s is of the server %s, want %s, which has the socket", s.Name, s.Instance, grab.Instance)
		}
	}
	delivered := child(progress, "deliver", "CONSUMER")
	if delivered.Instance == grab.Instance || delivered.Attributes["hongbao.topic"] != wire.RoomChannel(c.room) {
		t.Errorf("the delivery is %+v, want one of the other server, to the room", delivered)
	}

	const caller, unsampled, span = "4bf92f3577b34da6a3ce929d0e0e4736", "4bf92f3577b34da6a3ce929d0e0e4737", "00f067aa0ba902b7"
	late := there.Guest("late")
	for _, traceparent := range []string{"00-" + unsampled + "-" + span + "-00", "00-" + caller + "-" + span + "-01"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, there.URL.JoinPath("/v1/commands/grab").String(), strings.NewReader(e2e.JSON(wire.GrabRequest{Packet: packet})))
		e2e.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+late.Token)
		r.Header.Set("Traceparent", traceparent)
		response, err := http.DefaultClient.Do(r)
		e2e.NoError(t, err)
		_ = response.Body.Close()
	}
	await(t, collector, "the grab of the request's trace", func(s e2e.Span) bool {
		return s.Trace == caller && s.Parent == span && s.Name == "grab" && s.Kind == "SPAN_KIND_SERVER"
	})
	if s, ok := collector.Find(func(s e2e.Span) bool { return s.Trace == unsampled }); ok {
		t.Errorf("the request that is not sampled has the span %+v, want none", s)
	}
}

func await(t *testing.T, c *e2e.Collector, what string, fits func(e2e.Span) bool) (found e2e.Span) {
	t.Helper()
	e2e.Eventually(t, 10*time.Second, "the collector has "+what, func() (ok bool) {
		found, ok = c.Find(fits)
		return ok
	})
	return found
}
