package wire_test

import (
	"testing"

	"hongbao/web/wire"
	"hongbao/web/wire/frame"
	"hongbao/web/wire/strict"
)

var grabLine = []byte(`{"id":1234,"rpc":{"method":"grab","data":{"packet":"018f3e6c2b7a4c0d9e1f2a3b4c5d6e7f"}}}`)

func BenchmarkDecodeFrame(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if cmds, err := frame.Decode(wire.JSON, grabLine); err != nil || len(cmds) != 1 {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	data := []byte(`{"packet":"018f3e6c2b7a4c0d9e1f2a3b4c5d6e7f"}`)
	b.ReportAllocs()
	for b.Loop() {
		var r wire.GrabRequest
		if err := strict.Decode(data, &r); err != nil || r.Packet == "" {
			b.Fatal(err)
		}
	}
}
