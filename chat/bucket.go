package chat

import "hash/fnv"

const userBuckets = 32

// UserBucket returns the first part of the primary key of a user's row, so that the rows can be spread over several databases.
// It is stored, so it never changes.
func UserBucket(user string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(user)) // never fails
	return int(h.Sum32() % userBuckets)
}
