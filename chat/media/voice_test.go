package media

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// element returns an EBML element with a size of 4 bytes.
func element(id uint32, parts ...string) string {
	content := strings.Join(parts, "")
	name := strings.TrimLeft(string(binary.BigEndian.AppendUint32(nil, id)), "\x00")
	return name + string(binary.BigEndian.AppendUint32(nil, uint32(len(content))|1<<28)) + content
}

// endless returns an EBML element of unknown size.
func endless(id uint32, parts ...string) string {
	return string(binary.BigEndian.AppendUint32(nil, id)) + "\x01\xff\xff\xff\xff\xff\xff\xff" + strings.Join(parts, "")
}

// box returns a box of MP4.
func box(name string, parts ...string) []byte {
	content := strings.Join(parts, "")
	return []byte(string(binary.BigEndian.AppendUint32(nil, uint32(8+len(content)))) + name + content)
}

func webmTrack(kind, codec string) string {
	return element(idTrack, element(0xd7, "\x01"), element(idTrackType, kind), element(idCodec, codec))
}

func webm(docType string, tracks ...string) []byte {
	const idInfo, idCluster = 0x1549a966, 0x1f43b675
	return []byte(element(idEBML, element(0x4286, "\x01"), element(idDocType, docType)) +
		endless(idSegment, element(idInfo, "info"), element(idTracks, tracks...), endless(idCluster, "sound")))
}

func ogg(flags byte, content string) string {
	return "OggS\x00" + string([]byte{flags}) + string(make([]byte, 20)) + string([]byte{1, byte(len(content))}) + content
}

func track(handler, sample string) string {
	description := "\x00\x00\x00\x00\x00\x00\x00\x01" + string(box(sample, "details"))
	return string(box("trak", string(box("tkhd", "head")), string(box("mdia",
		string(box("hdlr", "\x00\x00\x00\x00\x00\x00\x00\x00"+handler+"name")),
		string(box("minf", string(box("stbl", string(box("stsd", description))))))))))
}

func mp4(parts ...string) []byte {
	return []byte(string(box("ftyp", "M4A \x00\x00\x02\x00isom")) + strings.Join(parts, ""))
}

func moov(tracks ...string) string {
	return string(box("moov", append([]string{string(box("mvhd", "head"))}, tracks...)...))
}

const (
	opusHead = "OpusHead\x01\x01\x38\x01\x80\xbb\x00\x00\x00\x00\x00"
	opusTags = "OpusTags\x00\x00\x00\x00\x00\x00\x00\x00"
)

// recordings returns recordings by their type and what is special about them.
func recordings() map[string][]byte {
	sound := string(box("mdat", "sound"))
	return map[string][]byte{
		"audio/webm":                 webm("webm", webmTrack("\x02", "A_OPUS")),
		"audio/webm, two tracks":     webm("webm", webmTrack("\x02", "A_OPUS"), webmTrack("\x02", "A_OPUS")),
		"audio/ogg":                  []byte(ogg(2, opusHead) + ogg(0, opusTags) + ogg(0, "sound")),
		"audio/mp4":                  mp4(sound, moov(track("soun", "mp4a"))),
		"audio/mp4, fragments":       mp4(moov(track("soun", "mp4a"), string(box("mvex", "x"))), string(box("moof", "x")), sound),
		"audio/mp4, size of 64 bits": mp4("\x00\x00\x00\x01mdat\x00\x00\x00\x00\x00\x00\x00\x15sound", moov(track("soun", "mp4a"))),
		"audio/mp4, size unknown":    mp4(moov(track("soun", "mp4a")), "\x00\x00\x00\x00mdatsound"),
		"audio/mp4, interrupted":     mp4(moov(track("soun", "mp4a")), "\x00\x00\xff\xffmdatsound"),
	}
}

func TestVoiceRecognisesRecordings(t *testing.T) {
	for name, upload := range recordings() {
		want, _, _ := strings.Cut(name, ",")
		if got, err := Voice(upload); got != want || err != nil {
			t.Errorf("%s: Voice returns %q, %v", name, got, err)
		}
	}
}

func TestVoiceRefuses(t *testing.T) {
	film, words := track("vide", "avc1"), track("text", "tx3g")
	cut := func(upload []byte, n int) []byte { return upload[:len(upload)-n] }
	for name, upload := range map[string][]byte{
		"nothing":                    nil,
		"a picture":                  jpegOf(t, opaque(40, 20)),
		"MP3":                        []byte("ID3\x04\x00\x00\x00\x00\x00\x00"),
		"WebM with a film":           webm("webm", webmTrack("\x02", "A_OPUS"), webmTrack("\x01", "V_VP8")),
		"WebM of a film only":        webm("webm", webmTrack("\x01", "V_VP8")),
		"WebM with Vorbis":           webm("webm", webmTrack("\x02", "A_VORBIS")),
		"WebM without tracks":        webm("webm"),
		"Matroska":                   webm("matroska", webmTrack("\x02", "A_OPUS")),
		"WebM behind another byte":   append([]byte{0x80}, webm("webm", webmTrack("\x02", "A_OPUS"))...),
		"an id of 5 bytes":           []byte("\x1a\x45\xdf\xa3\x89\x08\x42\x82\x84webm"),
		"Ogg with Vorbis":            []byte(ogg(2, "\x01vorbis") + ogg(0, "\x03vorbis")),
		"Ogg with a second stream":   []byte(ogg(2, opusHead) + ogg(2, "\x80theora") + ogg(0, opusTags)),
		"Ogg that begins no stream":  []byte(ogg(0, opusHead) + ogg(0, opusTags)),
		"Ogg of one page":            []byte(ogg(2, opusHead)),
		"Ogg of half a page":         cut([]byte(ogg(2, opusHead)+ogg(0, opusTags)), 1),
		"MP4 with a film":            mp4(moov(track("soun", "mp4a"), film)),
		"MP4 of a film only":         mp4(moov(film)),
		"MP4 with words":             mp4(moov(track("soun", "mp4a"), words)),
		"MP4 with Opus":              mp4(moov(track("soun", "Opus"))),
		"MP4 without tracks":         mp4(moov()),
		"MP4 without moov":           mp4(string(box("mdat", "sound"))),
		"MP4 that is cut off":        cut(mp4(moov(track("soun", "mp4a"))), 1),
		"moov without ftyp":          []byte(moov(track("soun", "mp4a"))),
		"ftyp behind another box":    []byte(string(box("free")) + string(mp4(moov(track("soun", "mp4a"))))),
		"a box smaller than its own": []byte("\x00\x00\x00\x07ftypM4A "),
	} {
		if mediaType, err := Voice(upload); !errors.Is(err, errNotVoice) || mediaType != "" {
			t.Errorf("%s: Voice returns %q, %v, want %v", name, mediaType, err, errNotVoice)
		}
	}
}

// TestTruncatedRecordingNeverPanics cuts recordings off everywhere. What is left may be a recording: the headers say nothing of its length.
func TestTruncatedRecordingNeverPanics(t *testing.T) {
	for name, upload := range recordings() {
		for n := range upload {
			if mediaType, err := Voice(upload[:n]); err == nil && !strings.HasPrefix(name, mediaType) {
				t.Errorf("%s: the first %d bytes are %q", name, n, mediaType)
			}
		}
	}
}

func FuzzVoice(f *testing.F) {
	for upload := range maps.Values(recordings()) {
		f.Add(upload)
	}
	f.Fuzz(func(t *testing.T, upload []byte) {
		mediaType, err := Voice(upload)
		if known := []string{"audio/webm", "audio/ogg", "audio/mp4"}; err == nil != slices.Contains(known, mediaType) {
			t.Errorf("Voice returns %q, %v", mediaType, err)
		}
	})
}
