// Records the microphone, and how loud it is.

const forms = ['audio/webm;codecs=opus', 'audio/mp4;codecs=mp4a.40.2', 'audio/mp4', 'audio/ogg;codecs=opus']; // the server takes Opus and AAC
const pace = 50; // ms between two levels
const points = 64; // of the wave that is sent
const bits = 32_000; // a second

/** A recording that runs, and then its result. */
export class Microphone {
  /** @type {number[]} */ levels = []; // 0 to 255
  began = performance.now();
  #chunks = /** @type {Blob[]} */ ([]);
  #stream;
  #recorder;
  #context;
  #timer;

  /** Asks the user for the microphone, and begins. @param {() => void} heard called with each new level */
  static async open(heard) {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true } });
    try {
      return new Microphone(stream, heard);
    } catch (error) {
      stream.getTracks().forEach((track) => track.stop());
      throw error;
    }
  }

  /** @param {MediaStream} stream @param {() => void} heard */
  constructor(stream, heard) {
    this.#stream = stream;
    const mimeType = forms.find((form) => MediaRecorder.isTypeSupported(form));
    this.#recorder = new MediaRecorder(stream, { mimeType, audioBitsPerSecond: bits });
    this.#recorder.ondataavailable = (e) => { if (e.data.size) this.#chunks.push(e.data); };
    this.#context = new AudioContext();
    const analyser = this.#context.createAnalyser();
    analyser.fftSize = 1024;
    this.#context.createMediaStreamSource(stream).connect(analyser);
    const samples = new Uint8Array(analyser.fftSize);
    this.#timer = setInterval(() => {
      analyser.getByteTimeDomainData(samples);
      const power = samples.reduce((sum, sample) => sum + (sample - 128) ** 2, 0) / samples.length;
      this.levels.push(Math.min(255, Math.round(255 * Math.sqrt(Math.sqrt(power) / 64))));
      heard();
    }, pace);
    this.#recorder.start(1000);
    this.began = performance.now();
  }

  /** How long it records already, in ms. */
  get lasts() { return performance.now() - this.began; }

  /** Ends the recording. @returns {Promise<{blob: Blob, type: string, duration_ms: number, wave: string}>} */
  async stop() {
    const lasts = Math.round(this.lasts);
    const ended = new Promise((resolve) => { this.#recorder.onstop = resolve; });
    if (this.#recorder.state !== 'inactive') {
      this.#recorder.stop();
      await ended;
    }
    this.close();
    const type = this.#recorder.mimeType.split(';')[0];
    return { blob: new Blob(this.#chunks, { type }), type, duration_ms: lasts, wave: btoa(String.fromCharCode(...waveOf(this.levels))) };
  }

  /** Ends the recording without a result. */
  close() {
    clearInterval(this.#timer);
    if (this.#recorder.state !== 'inactive') this.#recorder.stop();
    this.#stream.getTracks().forEach((track) => track.stop());
    this.#context.close().catch(() => {});
  }
}

/** At most 64 points, each the loudest of its part. @param {number[]} levels */
export function waveOf(levels) {
  const count = Math.min(points, levels.length);
  return Array.from({ length: count }, (_, n) => Math.max(...levels.slice(Math.floor((n * levels.length) / count), Math.max(Math.floor((n * levels.length) / count) + 1, Math.floor(((n + 1) * levels.length) / count)))));
}
