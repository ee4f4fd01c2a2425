package chat

import "hash/fnv"

// A bucket comes first in the keys of tables that may be spread over several databases later.
const (
	userBuckets = 32
	roomBuckets = 256
)

// UserBucket returns the bucket of a user's rows. It is stored, so it never changes.
func UserBucket(user string) int { return bucketOf(user, userBuckets) }

// RoomBucket returns the bucket of a room's rows. It is stored, so it never changes.
func RoomBucket(room string) int { return bucketOf(room, roomBuckets) }

func bucketOf(id string, n uint32) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return int(h.Sum32() % n)
}
