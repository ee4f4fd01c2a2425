package chat

import "hash/fnv"

// The primary keys of some tables begin with a bucket, so that their rows can be spread over several databases.
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
