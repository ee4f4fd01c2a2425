package embedded

import (
	"fmt"
	"net"
	"testing"
	"time"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/web/wire"
)

// TestDeadCollectorDelaysNothing records every command while the collector accepts connections and never answers. Commands must be
// answered as usual, the log must say once that spans are lost, and the server must stop in time.
func TestDeadCollectorDelaysNothing(t *testing.T) {
	enginetest.Nightly(t, "whole")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	e2e.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			if _, err := l.Accept(); err != nil { // the kernel takes what is sent; nothing reads or answers it
				return
			}
		}
	}()
	server := e2e.Start(t, e2e.Build(t, ""), t.TempDir(), "127.0.0.1:0",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://"+l.Addr().String(), "OTEL_EXPORTER_OTLP_TIMEOUT=200", "OTEL_BSP_SCHEDULE_DELAY=10", "OTEL_BSP_MAX_QUEUE_SIZE=16")
	client := e2e.Connect(t, server, server.Guest("ann"), false)
	room := e2e.Call[wire.CreateRoomReply](client, "create_room", wire.CreateRoomRequest{Key: "room", Name: "room", Kind: "public"}).Room.ID
	count := 3
	var slowest time.Duration
	for n := range 100 {
		began := time.Now()
		packet := e2e.Call[wire.SendPacketReply](client, "send_packet", wire.SendPacketRequest{Room: room, Key: fmt.Sprint(n), Total: 30, Count: &count}).Packet.ID
		e2e.Call[wire.GrabReply](client, "grab", wire.GrabRequest{Packet: packet})
		slowest = max(slowest, time.Since(began))
	}
	t.Logf("the slowest of 100 sends with a grab took %v", slowest.Round(time.Millisecond))
	// Each would wait at least 200 ms for a collector in its way, and 16 spans are full after three.
	e2e.MustTake(t, "the slowest send with a grab beside a dead collector", slowest, 5*time.Second)
	server.AwaitLog("traces are lost", 1)
	began := time.Now()
	server.Stop()
	e2e.MustTake(t, "stopping, with the drain and a second for the last spans", time.Since(began), 4*time.Second)
}
