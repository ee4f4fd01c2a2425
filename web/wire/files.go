package wire

// File is a file of a text.
type File struct {
	ID         string `json:"id"`
	Kind       string `json:"kind" enum:"picture,voice,file"`
	Name       string `json:"name,omitempty"`
	Type       string `json:"type"` // media type
	Size       int64  `json:"size"`
	Width      int    `json:"width,omitempty"` // of a picture, in pixels
	Height     int    `json:"height,omitempty"`
	Blur       string `json:"blur,omitempty"`        // of a picture: base64 of 48 bytes, the colours (red, green, blue) of 4 × 4 fields, row by row
	DurationMS int64  `json:"duration_ms,omitempty"` // of a recording
	Wave       string `json:"wave,omitempty"`        // of a recording: base64 of up to 64 bytes, how loud it is from its beginning to its end
}

// FileState is how far the upload of a file has come.
type FileState struct {
	File     File   `json:"file"`
	State    string `json:"state" enum:"coming,held,ready" doc:"coming: not received whole; held: the host has not released it yet; ready: a text may have it"`
	Received int64  `json:"received" doc:"bytes that have come; the upload goes on from there"`
}

// BeginFileRequest is the request of begin_file.
type BeginFileRequest struct {
	Room       string `json:"room"`
	Kind       string `json:"kind" enum:"picture,voice,file" doc:"'picture': JPEG, PNG, GIF or WebP, which the server decodes and makes anew; 'voice': Opus in WebM or Ogg, or AAC in MP4; 'file': anything, which is only downloaded"`
	Name       string `json:"name,omitempty" doc:"at most 255 bytes, no path and no control characters; a 'file' needs one"`
	Type       string `json:"type,omitempty" doc:"media type of a 'file', such as application/pdf"`
	Size       int64  `json:"size" min:"1" doc:"bytes of the content; see limits"`
	DurationMS int64  `json:"duration_ms,omitempty" min:"1" max:"120000" doc:"of a 'voice', which needs it"`
	Wave       string `json:"wave,omitempty" doc:"of a 'voice': base64 of at most 64 bytes, how loud it is from its beginning to its end"`
}

// FileRequest is the request of file_state and cancel_file.
type FileRequest struct {
	Room string `json:"room"`
	File string `json:"file" doc:"the id of the file"`
}

// CancelFileReply is the reply of cancel_file.
type CancelFileReply struct{}

// FileLinksRequest is the request of file_links.
type FileLinksRequest struct {
	Room  string   `json:"room"`
	Files []string `json:"files" doc:"at most 100"`
}

// FileLinksReply is the reply of file_links.
type FileLinksReply struct {
	Queries []string `json:"queries" doc:"in the order of the files; see [Read a file](files.md#read-a-file)"`
	Until   int64    `json:"until" doc:"Unix milliseconds"`
}
