package media

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/draw"
	"iter"
	"slices"
)

// Markers of a JPEG.
const (
	markerSOF2 = 0xc2 // frame header of a progressive JPEG
	markerRST0 = 0xd0
	markerRST7 = 0xd7
	markerEOI  = 0xd9
	markerSOS  = 0xda // scan
	markerAPP1 = 0xe1 // EXIF and XMP
)

// segments yields the marker and the content of each segment of a JPEG before its first scan. It skips the same bytes between segments as image/jpeg
// does, so that both see the same segments.
func segments(upload []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		for at := 2; ; {
			if at = afterMarker(upload, at); at == 0 {
				return
			}
			marker := upload[at-1]
			if marker == 0 || marker >= markerRST0 && marker <= markerRST7 {
				continue // these have no content
			}
			if marker == markerEOI || marker == markerSOS || len(upload)-at < 2 {
				return
			}
			size := int(binary.BigEndian.Uint16(upload[at:]))
			if size < 2 || size > len(upload)-at || !yield(marker, upload[at+2:at+size]) {
				return
			}
			at += size
		}
	}
}

// afterMarker returns the position after the next marker; 0 if there is none.
func afterMarker(upload []byte, at int) int {
	for at < len(upload) && upload[at] != 0xff {
		at++
	}
	for at < len(upload) && upload[at] == 0xff {
		at++
	}
	if at == len(upload) {
		return 0
	}
	return at + 1
}

// isFullProgressive reports whether an upload is a progressive JPEG with more than one and a half samples a pixel.
func isFullProgressive(upload []byte) bool {
	if !bytes.HasPrefix(upload, []byte("\xff\xd8")) {
		return false
	}
	for marker, content := range segments(upload) {
		if marker != markerSOF2 || len(content) < 6 {
			continue
		}
		all, most := 0, 0 // samples of all components, and of the one that has most
		for component := range slices.Chunk(content[6:], 3) {
			if len(component) == 3 {
				samples := int(component[1]>>4) * int(component[1]&15)
				all, most = all+samples, max(most, samples)
			}
		}
		return 2*all > 3*most
	}
	return false
}

// orientation returns how the camera was held, from 1 to 8 as EXIF counts; 1, upright, if the JPEG does not say it.
func orientation(upload []byte) int {
	for marker, content := range segments(upload) {
		if tiff, ok := bytes.CutPrefix(content, []byte("Exif\x00\x00")); ok && marker == markerAPP1 {
			return tiffOrientation(tiff)
		}
	}
	return 1
}

// tiffOrientation reads the orientation in the first directory of a TIFF header, as it is in EXIF.
func tiffOrientation(tiff []byte) int {
	const (
		tagOrientation = 0x0112
		typeShort      = 3
		entrySize      = 12
	)
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch string(tiff[:4]) {
	case "II*\x00":
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	entries = entries[:min(len(entries), entrySize*int(order.Uint16(tiff[at:])))]
	for entry := range slices.Chunk(entries, entrySize) {
		if len(entry) < entrySize || order.Uint16(entry) != tagOrientation {
			continue
		}
		value := int(order.Uint16(entry[8:]))
		if order.Uint16(entry[2:]) == typeShort && order.Uint32(entry[4:]) == 1 && value >= 1 && value <= 8 {
			return value
		}
		return 1
	}
	return 1
}

// turned returns the upright picture of one that was taken in an orientation.
func turned(m image.Image, orientation int) image.Image {
	if orientation == 1 {
		return m
	}
	b := m.Bounds()
	w, h := b.Dx(), b.Dy()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if orientation >= 5 { // lies on its side
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	stride := out.Stride
	// The first pixel goes to start. A step to the right or down in m is a step of so many bytes in out.
	way := [...]struct{ start, right, down int }{
		2: {4 * (w - 1), -4, stride},
		3: {4*(w-1) + stride*(h-1), -4, -stride},
		4: {stride * (h - 1), 4, -stride},
		5: {0, stride, 4},
		6: {4 * (h - 1), stride, -4},
		7: {4*(h-1) + stride*(w-1), -stride, -4},
		8: {stride * (w - 1), -stride, 4},
	}[orientation]
	const rows = 16 // so that what is written in one go lies together, in one line of the processor's cache
	band := image.NewRGBA(image.Rect(0, 0, w, rows))
	for top := 0; top < h; top += rows {
		draw.Draw(band, band.Rect, m, b.Min.Add(image.Pt(0, top)), draw.Src)
		for x := range w {
			for y := range min(rows, h-top) {
				at := way.start + x*way.right + (top+y)*way.down
				copy(out.Pix[at:at+4], band.Pix[y*band.Stride+4*x:])
			}
		}
	}
	return out
}
