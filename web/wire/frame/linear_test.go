package frame

import (
	"encoding/binary"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/wire"
)

// TestDecodeIsLinear decodes long frames. The work must grow in proportion to the frame.
func TestDecodeIsLinear(t *testing.T) {
	for name, form := range map[string][2]string{
		"whole":  {``, ``},
		"method": {`{"id":1,"rpc":{"method":"`, `"}}`},
		"data":   {`{"id":1,"rpc":{"method":"send","data":`, `}}`},
		"string": {`{"id":1,"rpc":{"method":"send","data":{"text":"`, `"}}}`},
		"subs":   {`{"id":1,"connect":{"token":"","subs":{"`, `":{}}}}`},
	} {
		enginetest.Linear(t, name, func(text string) { _, _ = Decode(wire.JSON, []byte(form[0]+text+form[1])) })
	}
	enginetest.Linear(t, "protobuf", func(text string) {
		_, _ = Decode(wire.Protobuf, []byte(text))
		_, _ = Decode(wire.Protobuf, append(binary.AppendUvarint(nil, uint64(len(text))), text...))
	})
}
