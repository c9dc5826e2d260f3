// SVG → image → canvas → PNG, within the click, so that the browser takes it for what a person asked for.
const SCALE = 2, MOST = 16_000_000; // pixels that every browser's canvas holds

function raster(svg) {
  return new Promise((resolve, reject) => {
    const image = new Image(), address = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml;charset=utf-8' }));
    image.onload = () => {
      const scale = Math.min(SCALE, Math.sqrt(MOST / (image.width * image.height)));
      const canvas = document.createElement('canvas');
      canvas.width = Math.round(image.width * scale);
      canvas.height = Math.round(image.height * scale);
      canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(address);
      canvas.toBlob(blob => (blob ? resolve(blob) : reject(new Error('empty'))), 'image/png');
    };
    image.onerror = () => { URL.revokeObjectURL(address); reject(new Error('unreadable')); };
    image.src = address;
  });
}

export default function ({ data, parentElement }) {
  const { file, bytes: svg } = decode(data);
  const button = parentElement.querySelector('button'), said = parentElement.querySelector('.said');
  button.onclick = async () => {
    said.textContent = '';
    try {
      const address = URL.createObjectURL(await raster(svg)), link = document.createElement('a');
      link.href = address;
      link.download = file;
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    } catch {
      said.textContent = 'This browser could not draw the picture; take the SVG.';
    }
  };
}
