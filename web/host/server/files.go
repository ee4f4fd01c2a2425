package server

import (
	"context"
	"encoding/hex"

	"hongbao/chat/files"
	"hongbao/web/convert"
	"hongbao/web/host/hostapi"
)

// fileRoutes answers the operations on files.
type fileRoutes struct{ o Config }

func (s fileRoutes) routes() []Route {
	return []Route{Handle("list_files", s.listFiles), Handle("get_file", s.getFile), Handle("release_file", s.releaseFile), Handle("delete_file", s.deleteFile)}
}

// service returns the service of files, or an error if the server has none.
func (s fileRoutes) service() (*files.Service, error) {
	if s.o.Files == nil {
		return nil, files.ErrOff
	}
	return s.o.Files, nil
}

func (s fileRoutes) listFiles(ctx context.Context, _ Caller, r *hostapi.ListFilesRequest) (hostapi.ListFilesReply, error) {
	service, err := s.service()
	if err != nil {
		return hostapi.ListFilesReply{}, err
	}
	page, next, err := service.List(ctx, files.Query{Room: r.Room, User: r.User, Next: r.Next, Limit: r.Limit})
	return hostapi.ListFilesReply{Files: convert.List(page, fileOf), Next: next}, err
}

func (s fileRoutes) getFile(ctx context.Context, _ Caller, r *hostapi.FileRequest) (hostapi.FileReply, error) {
	service, err := s.service()
	if err != nil {
		return hostapi.FileReply{}, err
	}
	f, link, err := service.ForHost(ctx, r.Room, r.File)
	return hostapi.FileReply{File: fileOf(f), Link: link}, err
}

func (s fileRoutes) releaseFile(ctx context.Context, _ Caller, r *hostapi.ReleaseFileRequest) (hostapi.FileReply, error) {
	service, err := s.service()
	if err != nil {
		return hostapi.FileReply{}, err
	}
	f, err := service.Release(ctx, r.Room, r.File)
	return hostapi.FileReply{File: fileOf(f)}, err
}

func (s fileRoutes) deleteFile(ctx context.Context, _ Caller, r *hostapi.FileRequest) (hostapi.DeleteFileReply, error) {
	service, err := s.service()
	if err != nil {
		return hostapi.DeleteFileReply{}, err
	}
	return hostapi.DeleteFileReply{}, service.Delete(ctx, r.Room, r.File)
}

func fileOf(f files.Stored) hostapi.File {
	return hostapi.File{
		File: convert.File(f.File), Room: f.Room, User: f.User, At: convert.Millis(f.At), State: string(f.State), Seq: f.Seq, SHA256: hex.EncodeToString(f.Hash),
	}
}
