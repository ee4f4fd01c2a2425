package media

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
)

var errNotVoice = refused("format", "must be a recording: Opus in WebM or Ogg, or AAC in MP4")

// Voice returns the type of an uploaded recording: audio/webm or audio/ogg with Opus, or audio/mp4 with AAC. Browsers record these. Every track must
// be such sound. Voice reads the headers only: the sound may be broken, and other bytes may follow it.
//
// If the upload is refused, the error is a chat.FieldError of the field "file".
func Voice(upload []byte) (mediaType string, err error) {
	switch {
	case isWebM(upload):
		return "audio/webm", nil
	case isOgg(upload):
		return "audio/ogg", nil
	case isMP4(upload):
		return "audio/mp4", nil
	}
	return "", errNotVoice
}

// Elements of WebM, by their ids in EBML.
const (
	idEBML      = 0x1a45dfa3
	idDocType   = 0x4282
	idSegment   = 0x18538067
	idTracks    = 0x1654ae6b
	idTrack     = 0xae
	idTrackType = 0x83
	idCodec     = 0x86
)

func isWebM(upload []byte) bool {
	const sound = "\x02"
	if !bytes.HasPrefix(upload, []byte("\x1a\x45\xdf\xa3")) || string(find(elements, upload, idEBML, idDocType)) != "webm" {
		return false
	}
	found := false
	for id, track := range elements(find(elements, upload, idSegment, idTracks)) {
		if id != idTrack {
			continue
		}
		if string(find(elements, track, idTrackType)) != sound || string(find(elements, track, idCodec)) != "A_OPUS" {
			return false
		}
		found = true
	}
	return found
}

// elements yields the id and the content of each EBML element, up to the first one that is broken. An element of unknown size, as recorders write it,
// has all that follows.
func elements(data []byte) iter.Seq2[uint32, []byte] {
	return func(yield func(uint32, []byte) bool) {
		for len(data) > 0 {
			idLength := bits.LeadingZeros8(data[0]) + 1
			if idLength > 4 || idLength >= len(data) {
				return
			}
			var id uint32
			for _, b := range data[:idLength] {
				id = id<<8 | uint32(b)
			}
			data = data[idLength:]

			sizeLength := bits.LeadingZeros8(data[0]) + 1
			if sizeLength > 8 || sizeLength > len(data) {
				return
			}
			var size uint64
			for _, b := range data[:sizeLength] {
				size = size<<8 | uint64(b)
			}
			valueBits := 7 * sizeLength
			size &= 1<<valueBits - 1
			data = data[sizeLength:]
			if size == 1<<valueBits-1 { // unknown
				size = uint64(len(data))
			}
			if size > uint64(len(data)) || !yield(id, data[:size]) {
				return
			}
			data = data[size:]
		}
	}
}

// isOgg reports whether an upload is Ogg with one stream, which is Opus. The first pages of all streams come before any other page.
func isOgg(upload []byte) bool {
	head, begins, rest := oggPage(upload)
	if !begins || !bytes.HasPrefix(head, []byte("OpusHead")) {
		return false
	}
	tags, begins, _ := oggPage(rest)
	return !begins && bytes.HasPrefix(tags, []byte("OpusTags"))
}

// oggPage returns the content of the first page, whether it begins a stream, and what follows the page. The content is nil if there is no whole page.
func oggPage(data []byte) (content []byte, begins bool, rest []byte) {
	const header, flagBegins = 27, 2
	if len(data) < header || !bytes.HasPrefix(data, []byte("OggS\x00")) {
		return nil, false, nil
	}
	at := header + int(data[header-1])
	if at > len(data) {
		return nil, false, nil
	}
	end := at
	for _, segment := range data[header:at] {
		end += int(segment)
	}
	if end > len(data) {
		return nil, false, nil
	}
	return data[at:end], data[5]&flagBegins != 0, data[end:]
}

func isMP4(upload []byte) bool {
	if len(fileType(upload)) == 0 {
		return false
	}
	found := false
	for name, track := range boxes(find(boxes, upload, "moov")) {
		if name != "trak" {
			continue
		}
		if !isAAC(track) {
			return false
		}
		found = true
	}
	return found
}

// isAAC reports whether a track of MP4 is sound, and all its samples are described by one entry, of AAC.
func isAAC(track []byte) bool {
	handler := find(boxes, track, "mdia", "hdlr")
	samples := find(boxes, track, "mdia", "minf", "stbl", "stsd")
	return len(handler) >= 12 && string(handler[8:12]) == "soun" &&
		len(samples) >= 16 && binary.BigEndian.Uint32(samples[4:]) == 1 && string(samples[12:16]) == "mp4a"
}

// boxes yields the name and the content of each box of MP4 and of what is derived from it, up to the first one that is broken.
func boxes(data []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for len(data) >= 8 {
			size, header := uint64(binary.BigEndian.Uint32(data)), 8
			switch {
			case size == 0: // to the end
				size = uint64(len(data))
			case size == 1 && len(data) >= 16: // too large for 32 bits
				size, header = binary.BigEndian.Uint64(data[8:]), 16
			}
			if size < uint64(header) || size > uint64(len(data)) || !yield(string(data[4:8]), data[header:size]) {
				return
			}
			data = data[size:]
		}
	}
}

// fileType returns the content of the box ftyp, with which MP4 and its kin begin.
func fileType(upload []byte) []byte {
	if len(upload) < 8 || string(upload[4:8]) != "ftyp" {
		return nil
	}
	return find(boxes, upload, "ftyp")
}

// find returns the content of the first part on a path of names, such as the first box in the first box, and nil if there is none.
func find[Name comparable](parts func([]byte) iter.Seq2[Name, []byte], data []byte, path ...Name) []byte {
	for name, content := range parts(data) {
		if name != path[0] {
			continue
		}
		if len(path) == 1 {
			return content
		}
		return find(parts, content, path[1:]...)
	}
	return nil
}
