package strict_test

import (
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/wire"
	"hongbao/web/wire/strict"
)

// TestDecodeIsLinear decodes long texts in each place of a request. The work must grow in proportion to the text.
func TestDecodeIsLinear(t *testing.T) {
	for name, form := range map[string][2]string{
		"whole":         {``, ``},
		"string":        {`{"room":"`, `","key":"k"}`},
		"object":        {`{"room":"r","key":"k","data":{"a":"`, `"}}`},
		"strings":       {`{"room":"r","key":"k","mentions":["`, `"]}`},
		"list":          {`{"room":"r","key":"k","mentions":[`, `]}`},
		"unknown field": {`{"room":"r","key":"k","x":"`, `"}`},
		"fields":        {`{"room":"r","key":"k",`, `"x":1}`},
		"name":          {`{"room":"r","key":"k","`, `":1}`},
		"nested":        {`{"room":"r","key":"k","data":{"a":`, `}}`},
	} {
		enginetest.Linear(t, name, func(text string) {
			_ = strict.Decode([]byte(form[0]+text+form[1]), new(wire.SendRequest))
		})
	}
}
