package media

import (
	"encoding/binary"
	"image/color"
	"testing"
)

func TestOrientationTurnsPixels(t *testing.T) {
	upload := jpegOf(t, opaque(401, 202))
	for orientation, want := range map[uint16][]color.NRGBA{
		1: {red, green, blue, yellow},
		2: {green, red, yellow, blue},
		3: {yellow, blue, green, red},
		4: {blue, yellow, red, green},
		5: {red, blue, green, yellow},
		6: {blue, red, yellow, green},
		7: {yellow, green, blue, red},
		8: {green, yellow, red, blue},
	} {
		made, err := Picture(t.Context(), withOrientation(upload, orientation))
		noError(t, err)
		size := [2]int{made.Width, made.Height}
		if onSide := orientation >= 5; onSide && size != [2]int{202, 401} || !onSide && size != [2]int{401, 202} {
			t.Errorf("orientation %d: the picture has %v pixels", orientation, size)
		}
		wantCorners(t, decode(t, made.Type, made.Original), want...)
		wantCorners(t, decode(t, made.PreviewType, made.Small), want...)
	}
}

func TestOrientationIsRead(t *testing.T) {
	little, big := exif(binary.LittleEndian, 6), exif(binary.BigEndian, 6)
	changed := func(at int, to byte) string {
		b := []byte(little)
		b[at] = to
		return string(b)
	}
	for _, tt := range []struct {
		name, segments string
		want           int
	}{
		{"no segment", "", 1},
		{"little endian", segment(markerAPP1, "Exif\x00\x00"+little), 6},
		{"big endian", segment(markerAPP1, "Exif\x00\x00"+big), 6},
		{"after other segments", segment(0xe0, "JFIF\x00") + segment(markerAPP1, "http://ns.adobe.com/xap/1.0/\x00") + segment(markerAPP1, "Exif\x00\x00"+big), 6},
		{"after fill bytes, stuffing, a restart and noise", "\xff\x00\xff\xd3noise\xff\xff" + segment(markerAPP1, "Exif\x00\x00"+big), 6},
		{"the first of two", segment(markerAPP1, "Exif\x00\x00"+big) + segment(markerAPP1, "Exif\x00\x00"+exif(binary.BigEndian, 3)), 6},
		{"in another segment", segment(0xe3, "Exif\x00\x00"+big), 1},
		{"after the scan", segment(markerSOS, "") + segment(markerAPP1, "Exif\x00\x00"+big), 1},
		{"no such byte order", segment(markerAPP1, "Exif\x00\x00"+changed(0, 'X')), 1},
		{"a directory beyond the end", segment(markerAPP1, "Exif\x00\x00"+changed(4, 200)), 1},
		{"more entries than there are", segment(markerAPP1, "Exif\x00\x00"+changed(8, 9)), 6},
		{"no entry", segment(markerAPP1, "Exif\x00\x00"+changed(8, 0)), 1},
		{"another tag", segment(markerAPP1, "Exif\x00\x00"+changed(10, 0x13)), 1},
		{"another type", segment(markerAPP1, "Exif\x00\x00"+changed(12, 4)), 1},
		{"two values", segment(markerAPP1, "Exif\x00\x00"+changed(14, 2)), 1},
		{"0", segment(markerAPP1, "Exif\x00\x00"+changed(18, 0)), 1},
		{"9", segment(markerAPP1, "Exif\x00\x00"+changed(18, 9)), 1},
		{"a short header", segment(markerAPP1, "Exif\x00\x00II*\x00"), 1},
		{"a short directory", segment(markerAPP1, "Exif\x00\x00"+little[:20]), 1},
	} {
		if got := orientation([]byte("\xff\xd8" + tt.segments + "\xff\xd9")); got != tt.want {
			t.Errorf("%s: orientation %d, want %d", tt.name, got, tt.want)
		}
	}
}

func FuzzOrientation(f *testing.F) {
	for value := range uint16(10) {
		f.Add([]byte(exif(binary.LittleEndian, value)))
		f.Add([]byte(exif(binary.BigEndian, value)))
	}
	f.Add(withOrientation([]byte("\xff\xd8\xff\xd9"), 6))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, got := range []int{tiffOrientation(data), orientation(append([]byte("\xff\xd8"), data...))} {
			if got < 1 || got > 8 {
				t.Errorf("orientation %d", got)
			}
		}
		isFullProgressive(append([]byte("\xff\xd8"), data...))
	})
}
