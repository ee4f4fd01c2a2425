package redpacket

import (
	"context"
	"fmt"
	"sync"

	"hongbao/redpacket/crashpoint"
)

// The packets of a deleted room are closed early. The instance that deletes the room begins as soon as the deletion is
// committed (RoomDeleted). If the instance dies or a close fails, a background task of every instance finds the
// packets that are still open in SQL (closeDeletedRooms). Nothing can be sent into a deleted room, so one pass over
// its packets sees all of them.

const (
	roomsPerPass = 200 // deleted rooms that one pass of closeDeletedRooms examines
	closesOfRoom = 8   // packets of one list, such as those of a deleted room, that are closed at the same time
)

// RoomDeleted starts to close the open packets of a room whose deletion was committed by this instance. It does not
// block.
func (s *Service) RoomDeleted(room string) {
	crashpoint.Here("delete.after-commit")
	s.closeRoom(room)
}

// closeRoom closes the open packets of a deleted room in the background. It does nothing if this instance is already
// closing them.
func (s *Service) closeRoom(room string) {
	if !s.deleted.begin(room) {
		return
	}
	if !s.background.start(func() {
		defer s.deleted.end(room)
		err := s.flow.closeRoom(context.Background(), room, s.closeAll)
		if err != nil {
			err = fmt.Errorf("room %s: %w", room, err)
		}
		s.recordTask("deleted rooms", &s.counts.deleted, err)
	}) {
		s.deleted.end(room)
	}
}

// closeDeletedRooms examines the next deleted rooms and starts to close their open packets. Each room has a goroutine
// of its own, so a room whose packets cannot be closed delays no other room.
func (s *Service) closeDeletedRooms(ctx context.Context) {
	rooms, next, err := s.ledger.DeletedRooms(ctx, s.deleted.next, roomsPerPass)
	s.deleted.next = next // empty after the last room and after an error: the next pass starts at the first room
	for _, room := range rooms {
		s.closeRoom(room)
	}
	s.recordTask("deleted rooms", &s.counts.deleted, err)
}

// closeAll closes the given packets early and blocks until each close has ended. A packet whose close fails is left to
// the next pass. closeAll returns false if the service is stopping: other instances close the rest.
func (s *Service) closeAll(packets []Ref) bool {
	var all sync.WaitGroup
	defer all.Wait()
	slots := make(chan struct{}, closesOfRoom)
	for _, p := range packets {
		slots <- struct{}{}
		if s.background.stopping() {
			return false
		}
		all.Go(func() {
			defer func() { <-slots }()
			if s.mayClose(p) {
				s.closeNow(p, CloseEarly)
			}
		})
	}
	return true
}

// closeRoom closes the open packets of a deleted room.
func (f *flow) closeRoom(ctx context.Context, room string, closeAll func([]Ref) bool) error {
	return eachPage(ctx, closeAll, func(ctx context.Context, after string) ([]Ref, error) {
		return f.ledger.OpenInDeleted(ctx, room, after, pageOfWork)
	})
}

// eachPage lists packets page by page, and calls closeAll with each page. It continues if packets of a page could not be
// closed. It ends early when closeAll returns false.
func eachPage(ctx context.Context, closeAll func([]Ref) bool, list func(ctx context.Context, after string) ([]Ref, error)) error {
	after := ""
	for {
		page, err := listPage(ctx, after, list)
		if err != nil {
			return err
		}
		if !closeAll(page) || len(page) < pageOfWork {
			return nil
		}
		after = page[len(page)-1].ID
	}
}

func listPage(ctx context.Context, after string, list func(ctx context.Context, after string) ([]Ref, error)) ([]Ref, error) {
	ctx, cancel := context.WithTimeout(ctx, detachedTimeout)
	defer cancel()
	return list(ctx, after)
}

// deletedRooms holds the deleted rooms whose packets this instance is closing now.
type deletedRooms struct {
	next string // only closeDeletedRooms uses it: its next pass examines the rooms after this one

	mu   sync.Mutex
	busy map[string]struct{} // guarded by mu
}

// begin marks the room and returns true, unless a goroutine of this instance is already closing the room's packets.
// After true the caller must call end.
func (d *deletedRooms) begin(room string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, busy := d.busy[room]; busy {
		return false
	}
	if d.busy == nil {
		d.busy = map[string]struct{}{}
	}
	d.busy[room] = struct{}{}
	return true
}

func (d *deletedRooms) end(room string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.busy, room)
}
