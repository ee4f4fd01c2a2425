package socket

// maxJoined is the maximum size of a frame that is made of several messages. A longer message keeps a frame of its own.
const maxJoined = 64 << 10

// join builds the bytes for the next Write from the first n frames. Consecutive messages are merged into one frame;
// control frames stay unchanged. It appends to b, except for a single long frame, which it returns without copying.
func join(b []byte, e Encoding, frames []Frame) (out []byte, n int) {
	if len(frames[0].Bytes) >= maxJoined {
		return frames[0].Bytes, 1
	}
	for n < len(frames) && len(b) < maxJoined {
		if isControl(frames[n].Bytes) {
			b = append(b, frames[n].Bytes...)
			n++
			continue
		}
		if len(frames[n].Bytes) >= maxJoined {
			break
		}
		end, size := fitting(frames, n)
		b = appendJoined(b, e, frames[n:end], size)
		n = end
	}
	return b, n
}

// fitting returns the end index of the messages, beginning at start, that fit into one frame. size is the sum of their
// bodies.
func fitting(frames []Frame, start int) (end, size int) {
	for end = start; end < len(frames); end++ {
		frame := frames[end].Bytes
		if isControl(frame) || end > start && size+len(frame) > maxJoined {
			break
		}
		size += len(bodyOf(frame))
	}
	return end, size
}

// appendJoined appends to b one frame with the messages of all given frames. size is the sum of their bodies.
func appendJoined(b []byte, e Encoding, frames []Frame, size int) []byte {
	if e == JSON {
		size += len(frames) - 1
	}
	b = appendHeader(b, e.opcode(), size)
	for i, f := range frames {
		if e == JSON && i > 0 {
			b = append(b, '\n')
		}
		b = append(b, bodyOf(f.Bytes)...)
	}
	return b
}
