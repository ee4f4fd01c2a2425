package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fileFolder is the folder in which Redis keeps every write.
func (w *world) fileFolder() string { return filepath.Join(w.redisDir, "appendonlydir") }

// forgetFile removes what Redis has kept. Redis must not run.
func (w *world) forgetFile() error { return os.RemoveAll(w.fileFolder()) }

func flushRedis(ctx context.Context, w *world, dice *rand.Rand) (err error) {
	c := redisClient(w.redis)
	defer c.Close()
	flushes := times(ctx, dice, func() { err = errors.Join(err, c.FlushAll(ctx).Err()) })
	return errors.Join(err, flushes)
}

func killRedis(ctx context.Context, w *world, dice *rand.Rand) error {
	w.redis.Kill()
	return w.redisBack(ctx, dice)
}

func killRedisWithFile(ctx context.Context, w *world, dice *rand.Rand) error {
	w.redis.Kill()
	return errors.Join(w.forgetFile(), w.redisBack(ctx, dice))
}

// killRedisToOlderFile puts Redis back to what it had some seconds before: later writes are lost, and keys that were deleted since are
// back.
func killRedisToOlderFile(ctx context.Context, w *world, dice *rand.Rand) error {
	older := filepath.Join(w.dir, "older")
	if err := errors.Join(os.RemoveAll(older), os.CopyFS(older, os.DirFS(w.fileFolder()))); err != nil {
		return err
	}
	_ = pause(ctx, between(dice, 500*time.Millisecond, 4*time.Second)) // Redis is started in any case
	w.redis.Kill()
	err := errors.Join(w.forgetFile(), os.Rename(older, w.fileFolder()))
	return errors.Join(err, w.redisBack(ctx, dice))
}

// redisBack starts Redis again after a moment.
func (w *world) redisBack(ctx context.Context, dice *rand.Rand) error {
	_ = pause(ctx, between(dice, 50*time.Millisecond, 4*time.Second)) // Redis is started in any case
	return w.redis.Restart(context.WithoutCancel(ctx))
}

func pauseRedis(ctx context.Context, w *world, dice *rand.Rand) error {
	w.redis.Pause()
	defer w.redis.Resume()
	return pause(ctx, between(dice, time.Second, 7*time.Second))
}

// withSetting sends a command of an operator to Redis, and after some seconds the one that takes it back.
func withSetting(set, back string) func(ctx context.Context, w *world, dice *rand.Rand) error {
	return func(ctx context.Context, w *world, dice *rand.Rand) error {
		c := redisClient(w.redis)
		defer c.Close()
		do := func(ctx context.Context, command string) error {
			var args []any
			for word := range strings.FieldsSeq(command) {
				args = append(args, word)
			}
			return c.Do(ctx, args...).Err()
		}
		if err := do(ctx, set); err != nil {
			return err
		}
		_ = pause(ctx, between(dice, time.Second, 7*time.Second)) // it is taken back in any case
		return do(context.WithoutCancel(ctx), back)
	}
}
