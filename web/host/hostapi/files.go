package hostapi

import "hongbao/web/wire"

var fileOperations = []Operation{
	{
		Method: wire.Method{
			Name: "list_files", Does: "Lists files of a room, of a user, or of a user in a room, the newest first.",
			Request: ListFilesRequest{}, Reply: ListFilesReply{},
		},
		Verb: "GET", Path: "/v1/server/files", Scope: Moderate, Example: ListFilesRequest{Room: "r-1", Limit: 10},
	},
	{
		Method: wire.Method{
			Name: "get_file", Does: "Returns a file, with a link to its content, also while it is held.",
			Request: FileRequest{}, Reply: FileReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/files/{room}/{file}", Scope: Moderate, Example: FileRequest{Room: "r-1", File: "f-1"},
	},
	{
		Method: wire.Method{
			Name: "release_file", Does: "Lets the uploader send a file that the hook holds. A file that is not held stays as it is.",
			Request: ReleaseFileRequest{}, Reply: FileReply{}, Errors: []wire.Code{wire.CodeNotFound, wire.CodeConflict},
		},
		Verb: "POST", Path: "/v1/server/files/{room}/{file}/release", Scope: Moderate, Example: ReleaseFileRequest{Room: "r-1", File: "f-1"},
	},
	{
		Method: wire.Method{
			Name: "delete_file", Does: "Removes a file, also one that is sent. Its text stays: recall removes both.",
			Request: FileRequest{}, Reply: DeleteFileReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "DELETE", Path: "/v1/server/files/{room}/{file}", Scope: Moderate, Example: FileRequest{Room: "r-1", File: "f-1"},
	},
}

// File is a file as the host sees it.
type File struct {
	wire.File

	Room   string `json:"room"`
	User   string `json:"user"` // the uploader
	At     int64  `json:"at"`   // when the upload began
	State  string `json:"state" enum:"coming,held,ready"`
	Seq    int64  `json:"seq,omitempty"`    // of the text that has it; missing: it is not sent
	SHA256 string `json:"sha256,omitempty"` // of the content, in hex; missing: it is not whole
}

// ListFilesRequest is the request of list_files.
type ListFilesRequest struct {
	Room  string `json:"room,omitempty"` // one of room and user must be there
	User  string `json:"user,omitempty"`
	Next  string `json:"next,omitempty"`          // the next of the page before; missing: the first page
	Limit int    `json:"limit,omitempty" min:"1"` // at most 100; missing: 50
}

// ListFilesReply is the reply of list_files.
type ListFilesReply struct {
	Files []File `json:"files"`
	Next  string `json:"next,omitempty"` // "": it is the last page
}

// FileRequest is the request of get_file and delete_file.
type FileRequest struct {
	Room string `json:"room"`
	File string `json:"file"`
}

// ReleaseFileRequest is the request of release_file.
type ReleaseFileRequest struct {
	Room string `json:"room"`
	File string `json:"file"`
}

// FileReply is the reply of get_file and release_file.
type FileReply struct {
	File File   `json:"file"`
	Link string `json:"link,omitempty"` // where the listener of the clients serves the content, for 15 minutes; missing: it is not whole
}

// DeleteFileReply is the reply of delete_file.
type DeleteFileReply struct{}
